/** The management interface while its database is away, frozen or full. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { LostConnection } from '#db/engines/postgres/lost-connections.ts';
import { discardSilent, openPool } from '#db/engines/postgres/pool.ts';
import { listenForPublishes } from '#db/engines/postgres/publish-listener.ts';
import { isDatabaseAway } from '#db/failures.ts';
import { readAnswer, startTestApi } from '../support/api/api.ts';
import { SETTINGS } from '../support/api/customers.ts';
import { newPostgres, newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { silentLog } from '../support/feed/feed.ts';
import { startRelay } from '../support/relay.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

describe('while PostgreSQL is away', needs('postgres'), () => {
  test('operations answer 503 with Retry-After while PostgreSQL is away, and succeed when it is back', async (t) => {
    const target = await newPostgres(t);
    const relay = await startRelay(target.url ?? '');
    t.after(() => relay[Symbol.asyncDispose]());
    const api = await startTestApi(t, async () => ({ ...target, url: relay.url }));
    const { accessToken } = await api.join('customer', ['cdn']);
    relay.cut();
    for (const [name, request] of [
      ['domain.list', {}],
      ['domain.add', { ...SETTINGS, domain: 'a.example.com' }],
    ] as const) {
      const answer = await api.call(name, accessToken, request);
      assert.deepEqual([answer.http, answer.errorCode], [503, 'notReady'], name);
      assert.equal(answer.headers.get('retry-after'), '5');
      assert.equal(answer.body['status'], 0);
    }
    assert.equal((await fetch(`${api.url}/readyz`)).status, 503);
    relay.mend();
    assert.equal((await api.call('domain.list', accessToken, {})).body['status'], 1);
  });

  test('a frozen PostgreSQL makes /readyz answer 503 within 2 s', async (t) => {
    const target = await newPostgres(t);
    const relay = await startRelay(target.url ?? '');
    t.after(() => relay[Symbol.asyncDispose]());
    const api = await startTestApi(t, async () => ({ ...target, url: relay.url }));
    assert.equal((await fetch(`${api.url}/readyz`)).status, 200);
    relay.freeze();
    const before = performance.now();
    const ready = await readAnswer(await fetch(`${api.url}/readyz`));
    assert.deepEqual([ready.http, ready.errorCode], [503, 'notReady']);
    assert.ok(performance.now() - before < 10_000, 'frozen, it never answers');
    relay.cut(); // ends the query that still waits
    relay.mend();
    assert.equal((await fetch(`${api.url}/readyz`)).status, 200);
  });

  test('calls wait while PostgreSQL stands still, and continue when it does', async (t) => {
    const target = await newPostgres(t);
    const relay = await startRelay(target.url ?? '');
    t.after(() => relay[Symbol.asyncDispose]());
    const api = await startTestApi(t, async () => ({ ...target, url: relay.url }));
    const { accessToken } = await api.join('customer', ['cdn']);
    const add = (n: number) => api.call('domain.add', accessToken, { ...SETTINGS, domain: `d${n}.example.com` });
    relay.pause();
    const waiting = Array.from({ length: 15 }, (_, n) => add(n));
    assert.equal((await fetch(`${api.url}/readyz`)).status, 503);
    relay.mend();
    for (const { http, errorCode } of await Promise.all([...waiting, add(99)]))
      assert.deepEqual([http, errorCode], [200, undefined]);
  });

  test('a connection that the network has forgotten is given up, one that is at work is not', async (t) => {
    const target = await newPostgres(t);
    await using relay = await startRelay(target.url ?? '');
    const opened = openPool({ url: relay.url, log: silentLog });
    const { pool } = opened;
    const kysely = discardSilent(opened, { silentMs: 100, lookEveryMs: 100 });
    t.after(() => void kysely.end()); // it would wait for what a failed test has not given back
    const [client, busy] = [await kysely.connect(), await kysely.connect()];
    await client.query('begin', []);
    await client.query('create table held (n int)', []);
    relay.freeze();
    const unanswered = client.query('select 1', []);
    await eventually('it has left', () => relay.swallowedBytes > 0);
    relay.mend();
    const atWork = busy.query('select 2 as two from pg_sleep(1)', []);
    await assert.rejects(unanswered, LostConnection);
    client.release();
    assert.equal(pool.totalCount, 1);
    assert.deepEqual((await atWork).rows, [{ two: 2 }]);
    await busy.query('create table held (n int)', []); // waits for nothing of the other's
    busy.release();
  });

  test('a query to a server that does not answer is given up at the second look in vain', async (t) => {
    const target = await newPostgres(t);
    await using relay = await startRelay(target.url ?? '');
    const opened = openPool({ url: relay.url, log: silentLog });
    const kysely = discardSilent(opened, { silentMs: 100, lookEveryMs: 100, lookLimitMs: 300 });
    t.after(() => void kysely.end());
    const client = await kysely.connect();
    relay.freeze();
    await assert.rejects(client.query('select 1', []), { message: 'the database server does not answer' });
    client.release();
    assert.equal(opened.pool.totalCount, 0);
  });

  test('connections to a host that does not answer are given up when another host is the primary', async (t) => {
    const target = await newPostgres(t);
    const { url = '' } = target;
    await using relay = await startRelay(url);
    await using other = await startRelay(url);
    const { host } = new URL(relay.url);
    const opened = openPool({ url: relay.url.replace(host, `${host},${new URL(other.url).host}`), log: silentLog });
    const kysely = discardSilent(opened, { silentMs: 100, lookEveryMs: 100, lookLimitMs: 300 });
    t.after(() => void kysely.end());
    const [one, two, idle] = [await kysely.connect(), await kysely.connect(), await kysely.connect()];
    idle.release();
    assert.equal(other.isUsed, false);
    relay.freeze();
    const moved = { message: 'the database server is not the primary any more' };
    await Promise.all([one, two].map((client) => assert.rejects(client.query('select 1', []), moved)));
    for (const client of [one, two]) client.release();
    const next = await kysely.connect();
    assert.deepEqual((await next.query('select 1 as one', [])).rows, [{ one: 1 }]);
    next.release();
    assert.equal(opened.pool.totalCount, 1, 'the idle connection is not used again');
  });

  test('a connection for notifications that hears nothing any more is replaced', async (t) => {
    const { url = '' } = await newPostgres(t);
    await using relay = await startRelay(url);
    let wakes = 0;
    const wake = () => {
      wakes += 1;
    };
    await using _ = listenForPublishes({
      url: relay.url,
      wake,
      take: () => undefined,
      log: silentLog,
      tryEveryMs: 50,
      limitMs: 300,
    });
    await eventually('it listens', () => wakes === 1);
    relay.freeze();
    await eventually('it has tried the connection', () => relay.swallowedBytes > 0);
    relay.mend();
    await eventually('another one listens', () => wakes === 2);
  });

  test('all connections to a server that refuses to write are dropped at the first refusal', async (t) => {
    const { url = '' } = await newPostgres(t);
    const opened = openPool({ url, log: silentLog });
    t.after(() => opened.pool.end());
    const kysely = discardSilent(opened);
    const [one, other] = [await kysely.connect(), await kysely.connect()];
    for (const client of [one, other]) await client.query('set default_transaction_read_only = on', []);
    other.release();
    const refusal = await one.query('create table t (n int)', []).then(
      () => assert.fail('it was written'),
      (error: unknown) => error,
    );
    assert.ok(isDatabaseAway(refusal));
    one.release();
    const next = await Promise.all([kysely.connect(), kysely.connect()]);
    await next[0].query('create table t (n int)', []);
    await next[1].query('drop table t', []);
    for (const client of next) client.release();
  });

  test('a query to a frozen PostgreSQL fails in time, and its connection is not used again', async (t) => {
    const target = await newPostgres(t);
    await using relay = await startRelay(target.url ?? '');
    const opened = openPool({ url: relay.url, log: silentLog, queryTimeoutMs: 300 });
    const { pool } = opened;
    t.after(() => pool.end());
    const kysely = discardSilent(opened);
    const client = await kysely.connect();
    await client.query('select 1', []);
    relay.freeze();
    await assert.rejects(client.query('select 1', []), isDatabaseAway);
    let hasFailed = false;
    const next = assert.rejects(client.query('rollback', []), isDatabaseAway).then(() => {
      hasFailed = true;
    });
    for (let turns = 0; turns < 20 && !hasFailed; turns++) await new Promise(setImmediate);
    assert.ok(hasFailed, 'the next fails at once');
    await next;
    client.release();
    assert.equal(pool.totalCount, 0);
    relay.mend();
    const other = await kysely.connect();
    assert.deepEqual((await other.query('select 1 as one', [])).rows, [{ one: 1 }]);
    other.release();
  });
});

test('while SQLite is full, writing calls answer 503 and reading calls succeed; writing resumes when there is room', async (t) => {
  const api = await startTestApi(t, newSqlite);
  const { accessToken } = await api.join('customer', ['cdn']);
  const add = (index: number) =>
    api.call('domain.add', accessToken, { ...SETTINGS, domain: `d${index}.example.com`, remark: 'x'.repeat(255) });
  await sql`pragma max_page_count = 1`.execute(api.db.query); // as many as there are
  let index = 0;
  let answer = await add(index);
  for (; answer.http === 200 && index < 200; index += 1) answer = await add(index + 1);
  assert.deepEqual([answer.http, answer.errorCode], [503, 'notReady']);
  assert.equal((await api.call('domain.list', accessToken, {})).body['status'], 1);
  assert.equal((await fetch(`${api.url}/readyz`)).status, 200);
  await sql`pragma max_page_count = 100000`.execute(api.db.query);
  assert.equal((await add(index)).body['status'], 1);
});

test(
  'a full disk, which ends SQLite transactions, is answered 503, and the log says why',
  needs('mounts'),
  async (t) => {
    const program = join(import.meta.dirname, '../support/api/sqlite-full.ts');
    const script = 'mount -t tmpfs -o size=3m tmpfs "$0" && exec "$1" "$2" "$0"';
    const args = ['-rm', 'sh', '-c', script, temporaryFolder(t), process.execPath, program];
    const { stdout } = await promisify(execFile)(obtain('mounts'), args, { timeout: 180_000 });
    const { reasons, ...seen } = JSON.parse(stdout);
    assert.deepEqual(seen, { full: Array(5).fill('503 notReady'), list: 1, ready: 200, after: 1 });
    assert.deepEqual([...new Set(reasons)], ['database or disk is full']);
  },
);
