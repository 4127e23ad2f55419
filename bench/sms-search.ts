/**
 * Searches and counts of an account's messages among a million on either engine: half of them ordinary, one of a request, the
 * newer half advertising to 1,000 numbers each; every tenth message is another account's, one of a hundred has failed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { type Db, openDatabase } from '#db/open.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { createSmsApp } from '#db/tables/sms/apps.ts';
import { sumMessages } from '#db/tables/sms/message-sums.ts';
import { findMessages, type MessageSearch } from '#db/tables/sms/search.ts';
import { createLogger } from '#lib/logger.ts';
import { databaseTargets } from './support/databases.ts';

const COUNT = Number(process.argv[3] ?? 1_000_000);
const RUNS = 15;
/** Time between two messages. */
const APART_MS = 2_592;
const NUMBERS_PER_REQUEST = 1_000;
/** Messages of one statement: PostgreSQL's time for each is bounded. */
const AT_ONCE = 50_000;

const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
try {
  for (const target of await databaseTargets(folder)) {
    await using _target = target;
    await using db = await openDatabase({ ...target, log: createLogger({ level: 'warn', name: 'bench' }) });
    const [accountId, appId] = await fill(db);
    const all = { accountId, appId: undefined, number: undefined, states: undefined, from: undefined, to: undefined };
    const month = COUNT * APART_MS;
    const searches: readonly [string, Partial<MessageSearch>][] = [
      ['no filter', {}],
      ['a number', { number: '+8613001007919' }],
      ['failed', { states: ['failed'] }],
      ['failed, before the middle', { states: ['failed'], to: month / 2 }],
      ['delivered', { states: ['delivered'] }],
      ['queued, of which there is none', { states: ['queued'] }],
      ['a service, an hour in the middle', { appId, from: month / 3, to: month / 3 + 3_600_000 }],
    ];
    // All in one snapshot: on SQLite it is a thread, whose start is measured by itself.
    await db.snapshot(async (x) => {
      for (const [name, filter] of searches)
        await measure(`${target.engine}: ${name}`, () =>
          findMessages(x, { ...all, ...filter }, { after: undefined, limit: 50 }),
        );
      await measure(`${target.engine}: counts of 200,000`, () =>
        sumMessages(x, { accountId, appId: undefined, from: 0, to: month }),
      );
    });
    await measure(`${target.engine}: an empty snapshot`, () => db.snapshot(async () => undefined));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function fill(db: Db): Promise<readonly [accountId: number, appId: number]> {
  const [one, other] = [await addAccount(db), await addAccount(db)];
  await db.transaction(async (trx) => {
    const half = COUNT / 2;
    const requests = half + half / NUMBERS_PER_REQUEST;
    const account = sql`case when i % 10 = 0 then ${sql.lit(other[0])} else ${sql.lit(one[0])} end`;
    const app = sql`case when i % 10 = 0 then ${sql.lit(other[1])} else ${sql.lit(one[1])} end`;
    const kind = sql`case when i <= ${sql.lit(half)} then 'ordinary' else 'advertising' end`;
    // Of a request with many numbers, all are of one account.
    const requestOf = sql`case when i <= ${sql.lit(half)} then i else ${sql.lit(half + 1)} + (i - ${sql.lit(half + 1)}) / ${sql.lit(NUMBERS_PER_REQUEST)} end`;
    const at = sql`i * ${sql.lit(APART_MS)}`;
    await sql`with recursive n(i) as (select cast(1 as bigint) union all select i + 1 from n where i < ${sql.lit(requests)})
      insert into sms_request (id, sendid, account_id, app_id, kind, sms_type, created_at, replay_hash)
      select i, 'send-' || i, ${account}, ${app}, ${kind}, 1,
        case when i <= ${sql.lit(half)} then ${at}
          else (${sql.lit(half)} + (i - ${sql.lit(half)} - 1) * ${sql.lit(NUMBERS_PER_REQUEST)}) * ${sql.lit(APART_MS)} end,
        'hash-' || i from n`.execute(trx);
    for (let from = 1; from <= COUNT; from += AT_ONCE) {
      const to = Math.min(COUNT, from + AT_ONCE - 1);
      await sql`with recursive n(i) as (select cast(${sql.lit(from)} as bigint) union all select i + 1 from n where i < ${sql.lit(to)})
        insert into sms_message (id, request_id, account_id, app_id, kind, sms_type, destination, parts, price, reference, created_at)
        select m.i, r.id, r.account_id, r.app_id, r.kind, 1, '+861300' || (1000000 + (m.i * 7919) % 200000), 1, 1, 0,
          r.created_at from (select i, ${requestOf} as request from n) as m join sms_request as r on r.id = m.request`.execute(
        trx,
      );
      await sql`insert into sms_part (id, message_id, account_id, n, text, state, route, priority, due_at, expire_at,
          tries, sends, connector_id, submitted_at, done_at, error)
        select id, id, account_id, 1, 'a message of the bench', case when id % 100 = 7 then 'failed' else 'delivered' end,
          '', 0, created_at, created_at, 0, 1, 1, created_at, created_at + 4000, '' from sms_message where id >= ${from} and id <= ${to}`.execute(
        trx,
      );
    }
  });
  if (db.engine === 'postgres') await sql`vacuum analyze`.execute(db.query);
  return one;
}

async function addAccount(db: Db): Promise<readonly [number, number]> {
  const { id } = await createAccount(db.query, { name: 'bench', kind: 'customer', now: 1 });
  const app = await createSmsApp(db.query, { accountId: id, appKey: `sms_${id}`, name: 'bench', now: 1 });
  return [id, app.id];
}

async function measure(name: string, work: () => Promise<unknown>): Promise<void> {
  await work();
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const startedAt = performance.now();
    await work();
    times.push(performance.now() - startedAt);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const show = (ms = 0) => `${ms.toFixed(1)} ms`;
  console.log(`${name}: ${show(sorted[Math.floor(RUNS / 2)])}, at most ${show(sorted.at(-1))}`);
}
