/** What a round leaves of the messages that it accepts, whether they stood in a queue or went out at once: the same on both engines. docs/decisions/0361 */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { sql, type Transaction } from 'kysely';
import type { Db } from '#db/open.ts';
import type { Schema } from '#db/schema/schema.ts';
import { findSmsAppsById } from '#db/tables/sms/apps.ts';
import type { ClaimedPart } from '#db/tables/sms/claim.ts';
import { loseLeases } from '#db/tables/sms/sweep.ts';
import { readWaiting } from '#db/tables/sms/waiting.ts';
import type { Submission } from '#sms/accept.ts';
import { createProcedures } from '#sms/procedures.ts';
import type { Round } from '#sms/round.ts';
import { describeOnBothEngines, type NewDatabase, newPostgres } from '../support/db/databases.ts';
import { needs } from '../support/runner/needs.ts';
import { checkMoney, openSmsAccount, openSmsDatabase, queueMessage, readParts } from '../support/sms/sms-queue.ts';
import { store } from '../support/sms/sms-steps.ts';

const NOW = Date.UTC(2026, 0, 31, 4);
const LONG = 'x'.repeat(150);

/** Which takes rounds with one connector for all numbers. */
async function openWorld(t: Parameters<NewDatabase>[0], newDatabase: NewDatabase) {
  const db = await openSmsDatabase(await newDatabase(t));
  t.after(() => db[Symbol.asyncDispose]());
  const procedures = createProcedures();
  return {
    db,
    async round(submissions: readonly Submission[], limit: number, lanes = ALL, now = NOW) {
      const round: Round = {
        ...{ results: [], events: [], submissions, claims: [{ connectorId: 1, lanes, limit, wholeMessages: false }] },
        ...{ owner: 'me', leaseUntil: now + 60_000, chargeAt: 'submit', now },
      };
      const { verdicts, claimed } = await db.transaction((trx) => procedures.round(trx, round));
      assert.ok(verdicts.every(({ kind }) => kind === 'accepted'));
      const [{ parts, isFull } = { parts: [], isFull: false }] = claimed;
      return { texts: parts.map(({ text }) => text), parts, isFull };
    },
  };
}

/** Hours of advertising. */
const HOURS = { from: 8 * 60, to: 22 * 60, timeZone: 'Asia/Shanghai' };
const MORNING = Date.UTC(2026, 1, 1);
const NIGHT = MORNING - 3_600_000;
const ALL = [{ route: '', minTries: 0, maxTries: 4 }];
let submitted = 0;

async function openSender(db: Db) {
  const account = await openSmsAccount(db, { now: NOW });
  const [app] = await findSmsAppsById(db.query, [account.appId]);
  assert.ok(app !== undefined);
  const { appKey } = app;
  const send = (content: string, changed: Partial<Submission> = {}): Submission => {
    submitted += 1;
    const own = { replayHash: `hash ${submitted}`, sendid: `sendid ${submitted}`, now: NOW };
    return {
      accountId: account.accountId,
      appKey,
      kind: 'ordinary',
      smsType: 1,
      mobile: '13800138000',
      content,
      ...own,
      ...changed,
    };
  };
  return { account, send };
}

describeOnBothEngines('a round that accepts messages', (newDatabase) => {
  test('a round sends a carrier the same of a message, whether it is sent at once or was queued', async (t) => {
    const { db, round } = await openWorld(t, newDatabase);
    const { send } = await openSender(db);
    for (const content of ['one', LONG]) {
      const { parts: atOnce } = await round([send(content)], 10);
      assert.deepEqual((await round([send(content)], 0)).parts, []);
      const { parts: queued } = await round([], 10);
      assert.ok(atOnce.length > 0);
      const same = ({ id: _id, messageId: _messageId, reference: _reference, ...others }: ClaimedPart) => others;
      assert.deepEqual(queued.map(same), atOnce.map(same));
      assert.deepEqual(Object.keys(queued[0] ?? {}).sort(), Object.keys(atOnce[0] ?? {}).sort());
    }
  });

  test('a round claims messages with all that a carrier needs, and they are in doubt if their process dies', async (t) => {
    const { db, round } = await openWorld(t, newDatabase);
    const { account, send } = await openSender(db);
    const { parts, isFull } = await round([send('one'), send(LONG)], 10);
    assert.equal(isFull, false);
    const stored = await readParts(db);
    const messages = await db.query.selectFrom('sms_message').selectAll().orderBy('id').execute();
    const [one, long] = messages;
    assert.deepEqual([one?.connector_id, long?.connector_id], [null, 1], 'a long one stays with its connector');
    const same = {
      appId: account.appId,
      accountId: account.accountId,
      destination: '+8613800138000',
      tries: 0,
      priority: 0,
    };
    const time = { route: '', dueAt: NOW, expireAt: NOW + 72 * 3_600_000 };
    const part = (n: number, messageId: number | undefined, text: string, parts: number, index: number) => {
      return { id: stored[n]?.id, messageId, text, part: index, parts, reference: 0, ...same, ...time };
    };
    assert.deepEqual(parts, [
      part(0, one?.id, 'one', 1, 1),
      part(1, long?.id, LONG.slice(0, 67), 3, 1),
      part(2, long?.id, LONG.slice(67, 134), 3, 2),
      part(3, long?.id, LONG.slice(134), 3, 3),
    ]);
    for (const row of stored) {
      const { state, sends, connector_id, submitted_at, lease_owner, lease_until, error } = row;
      assert.deepEqual(
        { state, sends, connector_id, submitted_at, lease_owner, lease_until, error },
        ...[
          {
            state: 'submitting',
            sends: 1,
            connector_id: 1,
            submitted_at: NOW,
            lease_owner: 'me',
            lease_until: NOW + 60_000,
            error: '',
          },
        ],
      );
    }
    await checkMoney(db);
    assert.deepEqual((await round([], 10)).texts, [], 'nothing is claimed twice');
    assert.equal(await db.transaction((trx) => loseLeases(trx, { now: NOW + 1, owner: 'next', isAlone: true })), 4);
    assert.deepEqual(new Set((await readParts(db)).map(({ state }) => state)), new Set(['uncertain']));
  });

  test('a round claims no more than there is room for; queued messages precede new ones', async (t) => {
    const { db, round } = await openWorld(t, newDatabase);
    const { send } = await openSender(db);
    const first = await round([send('a'), send('b'), send('c')], 2);
    assert.deepEqual([first.texts, first.isFull], [['a', 'b'], true]);
    const second = await round([send('d'), send('e')], 2);
    assert.deepEqual([second.texts, second.isFull], [['c', 'd'], true]);
    assert.deepEqual((await round([send('f')], 0)).texts, []);
    assert.deepEqual((await round([], 10)).texts, ['e', 'f']);
    await checkMoney(db);
  });

  test('a round gives a long message the room that is left, and its rest to the same connector', async (t) => {
    const { db, round } = await openWorld(t, newDatabase);
    const { send } = await openSender(db);
    const first = await round([send('a'), send(LONG)], 2);
    assert.deepEqual(first.texts, ['a', LONG.slice(0, 67)]);
    const [, long] = await db.query.selectFrom('sms_message').select('connector_id').orderBy('id').execute();
    assert.equal(long?.connector_id, 1);
    const second = await round([send('b')], 2);
    assert.deepEqual(second.texts.toSorted(), [LONG.slice(67, 134), LONG.slice(134)].toSorted());
    assert.deepEqual((await round([], 2)).texts, ['b']);
  });

  test('a round lets accounts take turns, and sends ordinary messages before waiting advertising', async (t) => {
    const { db, round } = await openWorld(t, newDatabase);
    const [x, y] = [await openSender(db), await openSender(db)];
    await queueMessage(db, x.account, { kind: 'advertising', texts: ['advertising'], now: NOW });
    const { texts } = await round([x.send('x1'), x.send('x2'), x.send('x3'), y.send('y1')], 3);
    assert.deepEqual(texts, ['x1', 'y1', 'x2']);
    assert.deepEqual((await round([], 1)).texts, ['x3'], 'it was the other one’s turn, who has nothing');
    assert.deepEqual((await round([], 9)).texts, ['advertising']);
  });

  test('a round sends ordinary messages before advertising that arrives with them', async (t) => {
    const { db, round } = await openWorld(t, newDatabase);
    const { send } = await openSender(db);
    const { texts } = await round([send('advertising', { kind: 'advertising' }), send('ordinary')], 1);
    assert.deepEqual(texts, ['ordinary']);
    assert.deepEqual((await round([], 9)).texts, ['advertising']);
  });

  test('a round sends the rest of a message over the connector that has its beginning, whatever its route is now', async (t) => {
    const { db, round } = await openWorld(t, newDatabase);
    const account = await openSmsAccount(db, { now: NOW });
    await queueMessage(db, account, { texts: ['1', '2', '3'], now: NOW });
    assert.deepEqual((await round([], 1)).texts, ['1']);
    assert.deepEqual((await round([], 9, [])).texts, ['2', '3']);
  });

  test('a round gives long messages to one number consecutive references', async (t) => {
    const { db, round } = await openWorld(t, newDatabase);
    const { send } = await openSender(db);
    const elsewhere = { mobile: '13900139000' };
    await round([send(LONG), send('short'), send(LONG, elsewhere), send(LONG)], 0);
    const rows = await db.query.selectFrom('sms_message').select(['parts', 'reference']).orderBy('id').execute();
    assert.deepEqual(
      rows.filter(({ parts }) => parts > 1).map(({ reference }) => reference),
      [0, 0, 1],
    );
  });

  test('a round returns parts without a connector to the queue, unless other parts of their message have one', async (t) => {
    const { db, round } = await openWorld(t, newDatabase);
    const account = await openSmsAccount(db, { now: NIGHT, settings: { marketingHours: HOURS } });
    await queueMessage(db, account, { kind: 'advertising', texts: ['short'], now: NIGHT });
    await queueMessage(db, account, { kind: 'advertising', texts: ['long 1', 'long 2'], now: NIGHT });
    const boundTo = async () => (await readParts(db)).map(({ connector_id }) => connector_id);
    assert.deepEqual((await round([], 10, ALL, NIGHT)).texts, []);
    assert.deepEqual(await boundTo(), [null, 1, 1]);
    const { parts } = await round([], 10, ALL, MORNING);
    assert.deepEqual(
      parts.map(({ text }) => text),
      ['short', 'long 1', 'long 2'],
    );
    const results = parts.map(({ id }) => [id, { kind: 'postponed', error: 'throttled' }] as const);
    await store(db, results, MORNING, 'submit', 'me');
    assert.deepEqual(await boundTo(), [null, 1, 1]);
    assert.deepEqual((await round([], 10, ALL, MORNING)).texts, ['short', 'long 1', 'long 2']);
    await checkMoney(db);
  });

  test('advertising that waits for its hours delays no other message of its connector', async (t) => {
    const { db, round } = await openWorld(t, newDatabase);
    const account = await openSmsAccount(db, { now: NIGHT, settings: { marketingHours: HOURS } });
    await queueMessage(db, account, { kind: 'advertising', texts: ['long 1', 'long 2'], now: NIGHT });
    assert.deepEqual((await round([], 10, ALL, NIGHT)).texts, []);
    const waiting = (now: number) => db.transaction((trx) => readWaiting(trx, [{ connectorId: 1, lanes: ALL }], now));
    assert.deepEqual(await waiting(MORNING - 1), [{ ordinary: false, advertising: true }]);
    assert.deepEqual(await waiting(MORNING), [{ ordinary: true, advertising: true }], 'it is bound, and due');
  });

  test('a round leaves messages that its connectors do not serve in the queue', async (t) => {
    const { db, round } = await openWorld(t, newDatabase);
    const { send } = await openSender(db);
    const failedBefore = [{ route: '', minTries: 5, maxTries: 9 }];
    assert.deepEqual((await round([send('a')], 9, failedBefore)).texts, []);
    const elsewhere = [{ route: '+85', minTries: 0, maxTries: 4 }];
    assert.deepEqual((await round([send('b')], 9, elsewhere)).texts, []);
    assert.deepEqual((await round([send('later', { now: NOW + 5 })], 9)).texts, ['a', 'b']);
    assert.deepEqual((await round([], 9, ALL, NOW + 5)).texts, ['later'], 'by the clock of who sends it was to come');
  });
});

describe('the reads of a round on PostgreSQL', needs('postgres'), () => {
  test('a round reads little if nothing waits, and carriers report all that was sent before', (t) =>
    readLittle(t, AT_ONCE));
  test('a round reads little if more waits than there is room for', (t) => readLittle(t, AT_ONCE / 4));
  test('a round reads little if much waits for the hours of advertising', async (t) => {
    const { db } = await openWorld(t, newPostgres);
    const account = await openSmsAccount(db, { now: NIGHT, settings: { marketingHours: HOURS } });
    for (let n = 0; n < AT_ONCE; n += 1)
      for (const texts of [['short'], ['long 1', 'long 2']])
        await queueMessage(db, account, { kind: 'advertising', texts, now: NIGHT });
    const procedures = createProcedures();
    const round: Round = {
      ...{
        results: [],
        events: [],
        submissions: [],
        claims: [{ connectorId: 1, lanes: ALL, limit: 100, wholeMessages: false }],
      },
      ...{ owner: 'me', leaseUntil: NIGHT + 60_000, chargeAt: 'submit', now: NIGHT },
    };
    await db.transaction((trx) => procedures.round(trx, round));
    const { reads } = await countReads(db, (trx) => procedures.round(trx, round));
    for (const { name, rows } of reads) assert.ok(rows < AT_ONCE / 2, `${rows} rows of ${name}`);
  });
});

const ROUNDS = 20;
const AT_ONCE = 20;

async function readLittle(t: TestContext, limit: number): Promise<void> {
  const { db } = await openWorld(t, newPostgres);
  const { send } = await openSender(db);
  const procedures = createProcedures();
  let results: Round['results'] = [];
  let events: Round['events'] = [];
  // Plans are kept from the sixth time on, made when next to nothing was stored.
  for (let n = 0; n < ROUNDS; n += 1) {
    const submissions = Array.from({ length: AT_ONCE }, (_, i) => send(`${n}-${i}`));
    const round: Round = {
      ...{ results, events, submissions, claims: [{ connectorId: 1, lanes: ALL, limit, wholeMessages: false }] },
      ...{ owner: 'me', leaseUntil: NOW + 60_000, chargeAt: 'submit', now: NOW },
    };
    const { done, reads } = await countReads(db, (trx) => procedures.round(trx, round));
    // Half of what they took last is delivered.
    events = results.filter((_, i) => i % 2 === 0).map(({ partId }) => deliveryOf(partId));
    results = (done.claimed[0]?.parts ?? []).map(({ id: partId }) => {
      const outcome = { kind: 'accepted', carrierId: `${partId}`, keys: [`${partId}`] } as const;
      return { partId, connectorId: 1, sentAt: NOW, endedAt: NOW, outcome };
    });
    assert.equal(results.length, limit);
    for (const { name, whole, rows } of reads) {
      assert.equal(whole, 0, `${name} is not read as a whole`);
      assert.ok(rows <= 4 * AT_ONCE, `${rows} rows of ${name} in round ${n}`);
    }
  }
}

function deliveryOf(partId: number): Round['events'][number] {
  const receipt = {
    connectorId: 1,
    carrierKeys: [`${partId}`],
    destination: '+8613800138000',
    error: '',
    word: '',
    raw: '',
  };
  return { kind: 'receipt', receipt: { ...receipt, state: 'delivered' } };
}

/** What `work` reads of each table. */
async function countReads<T>(db: Db, work: (trx: Transaction<Schema>) => Promise<T>) {
  return await db.transaction(async (trx) => {
    const before = await readsOf(trx);
    const done = await work(trx);
    const after = await readsOf(trx);
    const reads = after.map(({ name, whole, rows }, table) => {
      return { name, whole: whole - (before[table]?.whole ?? 0), rows: rows - (before[table]?.rows ?? 0) };
    });
    return { done, reads };
  });
}

const TABLES = ['sms_request', 'sms_message', 'sms_part', 'sms_ledger'];

/** Returns the statistics of the connection since the last call; only valid between transactions. */
async function readsOf(trx: Transaction<Schema>) {
  const { rows } = await sql<{ name: string; whole: number; rows: number }>`
    select relname as name, seq_scan as whole, coalesce(idx_tup_fetch, 0) as rows from pg_stat_xact_user_tables`.execute(
    trx,
  );
  return TABLES.map((table) => rows.find(({ name }) => name === table) ?? { name: table, whole: 0, rows: 0 });
}
