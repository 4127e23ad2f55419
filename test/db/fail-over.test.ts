/** A database URL with two hosts, before a primary and its standby that take turns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { discardSilent, openPool } from '#db/engines/postgres/pool.ts';
import { isDatabaseAway } from '#db/failures.ts';
import { openDatabase } from '#db/open.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { isSynchronous } from '#db/tables/replication.ts';
import { publish } from '#db/tables/resources.ts';
import { createLogger } from '#lib/logger.ts';
import { startReplicas } from '../support/db/replicas.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const log = createLogger({ level: 'silent', name: 'test' });

test(
  'the primary is found among the hosts, also after its standby was promoted, and every acknowledged write is there',
  needs('postgresPrograms'),
  async (t) => {
    const replicas = await startReplicas(t, { isSynchronous: true });
    await using db = await openDatabase({ url: replicas.url, file: '', log });
    assert.equal(await isSynchronous(db.query), true);
    let published = 0;
    db.onPublish(() => {
      published += 1;
    });
    const acknowledged: string[] = [];
    const failures: unknown[] = [];
    let isOver = false;
    const write = async (name: string) => {
      try {
        await createAccount(db.query, { name, kind: 'customer', now: 1 });
        acknowledged.push(name);
      } catch (error) {
        failures.push(error);
        await delay(20); // as a caller does that was told to try again later
      }
    };
    const writing = Promise.all(
      [1, 2, 3].map(async (writer) => {
        for (let n = 0; !isOver; n += 1) await write(`${writer}.${n}`);
      }),
    );
    await eventually('writes are acknowledged', () => acknowledged.length > 20);
    await replicas.failOver();
    const after = acknowledged.length;
    await eventually('writes are acknowledged again', () => acknowledged.length > after + 20);
    isOver = true;
    await writing;
    const unexpected = failures.filter((error) => !isDatabaseAway(error));
    assert.deepEqual(unexpected, []);
    const rows = await db.query.selectFrom('account').select('name').execute();
    const stored = new Set(rows.map(({ name }) => name));
    assert.deepEqual(
      acknowledged.filter((name) => !stored.has(name)),
      [],
    );
    const before = published;
    await db.transaction((trx) => publish(trx, [{ kind: 'purge', key: 'k', op: 'delete' }], 1));
    await eventually('notifications come from the new primary', () => published > before);
  },
);

test(
  'a commit that no standby confirms is given up, as is what waits for its locks; it is done when a standby is back',
  needs('postgresPrograms'),
  async (t) => {
    const replicas = await startReplicas(t, { isSynchronous: true });
    const opened = openPool({ url: replicas.primaryUrl, log });
    t.after(() => opened.pool.end());
    const kysely = discardSilent(opened, { silentMs: 100, lookEveryMs: 100 });
    const [writer, next, reader] = [await kysely.connect(), await kysely.connect(), await kysely.connect()];
    await writer.query('create table held (n int unique)', []);
    await replicas.killStandby();
    const givenUp = { message: 'no standby confirms a commit' };
    const writing = assert.rejects(writer.query('insert into held values (1)', []), givenUp);
    await eventually('it waits for the standby', async () => {
      const { rows } = await reader.query("select 1 from pg_stat_activity where wait_event = 'SyncRep'", []);
      return rows.length === 1;
    });
    const blocked = assert.rejects(next.query('insert into held values (1)', []), givenUp);
    await Promise.all([writing, blocked]);
    for (const client of [writer, next]) client.release();
    const count = async () => (await reader.query('select n from held', [])).rows.length;
    assert.equal(await count(), 0, 'it is not visible before it is confirmed');
    await replicas.repair();
    await eventually('it is done', async () => (await count()) === 1);
    reader.release();
    assert.equal(opened.pool.totalCount, 1);
  },
);

test(
  'a primary whose standby was promoted without it is left as soon as a commit waits: two primaries, the later one counts',
  needs('postgresPrograms'),
  async (t) => {
    const replicas = await startReplicas(t, { isSynchronous: true });
    const opened = openPool({ url: replicas.url, log });
    t.after(() => opened.pool.end());
    const kysely = discardSilent(opened, { silentMs: 100, lookEveryMs: 100 });
    const client = await kysely.connect();
    await client.query('create table held (n int)', []);
    await replicas.promoteStandby();
    await assert.rejects(client.query('insert into held values (1)', []), {
      message: 'the database server is not the primary any more',
    });
    client.release();
    const next = await kysely.connect();
    await next.query('insert into held values (2)', []);
    assert.deepEqual((await next.query('select n from held', [])).rows, [{ n: 2 }]);
    next.release();
  },
);
