/** Prefetches on their way to an edge and their outcomes on the way back, on both engines. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Db } from '#db/open.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { findTask, insertTask, listPrefetchResults } from '#db/tables/cache-tasks.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import type { FeedClientOptions } from '#feed/client/client.ts';
import { tidy } from '#feed/server/housekeeping.ts';
import { type FeedServer, startFeedServer } from '#feed/server/server.ts';
import { systemClock } from '#lib/clock.ts';
import type { CacheItem } from '#model/cache-task.ts';
import type { PrefetchOutcome } from '#sites/prefetch.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import {
  openTestDatabase,
  publishNow,
  putPrefetch,
  putPurge,
  sendRaw,
  silentLog,
  startTestEdge,
} from '../support/feed/feed.ts';
import { temporaryFolder } from '../support/temporary.ts';

const DAY_MS = 24 * 3600 * 1000;
const STORED: PrefetchOutcome = { kind: 'stored' };
/** Items of each task: more than a test prefetches. */
const ITEMS = Array.from({ length: 100 }, (_, n): CacheItem => ({ kind: 'url', asked: `a.example.com/${n}` }));

describeOnBothEngines('prefetches on the feed', (newDatabase) => {
  test('each prefetch runs once at each edge, even across a restart, and its outcome is stored in the database', async (t) => {
    await using feed = await startFeed(t, newDatabase);
    const task = await feed.newTask();
    await publishNow(feed.db, putPrefetch(task, 0, '/a'), putPrefetch(task, 1, '/b?c'));
    const asked: string[] = [];
    const prefetch: FeedClientOptions['prefetch'] = async ({ host, target, scheme }) => {
      asked.push(`${scheme}://${host}${target}`);
      return target === '/a' ? STORED : { kind: 'failed', reason: 'connect' };
    };
    for (const edgeId of ['north', 'south', 'north']) {
      const expected = asked.length === 0 ? 2 : 4;
      await using edge = startTestEdge(feed.folder, feed.socketPath, { edgeId, prefetch });
      await eventually('the edge runs it', () => edge.client.appliedRevision === 1);
      await feed.results(task, expected);
    }
    assert.deepEqual(
      asked.toSorted(),
      ['/a', '/a', '/b?c', '/b?c'].map((target) => `http://a.example.com${target}`),
    );
    assert.deepEqual(await listPrefetchResults(feed.db.query, task), [
      { n: 0, edge: 'north', failure: undefined },
      { n: 0, edge: 'south', failure: undefined },
      { n: 1, edge: 'north', failure: 'connect' },
      { n: 1, edge: 'south', failure: 'connect' },
    ]);
  });

  test('no prefetch begins before the workers run the purge that was published before it', async (t) => {
    await using feed = await startFeed(t, newDatabase);
    const task = await feed.newTask();
    const events: string[] = [];
    const inForce = Promise.withResolvers<void>();
    const first = Promise.withResolvers<PrefetchOutcome>();
    await publishNow(feed.db, putPrefetch(task, 0, '/first'));
    await using edge = startTestEdge(feed.folder, feed.socketPath, {
      confirm: async ({ revision }) => {
        if (revision > 1) await inForce.promise;
        events.push(`in force ${revision}`);
      },
      prefetch: async ({ target }) => {
        events.push(target);
        return target === '/first' ? first.promise : STORED;
      },
    });
    await eventually('the first is under way', () => events.length === 2);
    await publishNow(feed.db, putPurge(1, '1-0', { kind: 'site', target: '' }), putPrefetch(task, 1, '/second'));
    await eventually('the edge has both', () => edge.store.prefetches.listPending(9, 9).length === 2);
    first.resolve(STORED); // whoever is done looks for more
    await feed.results(task, 1);
    assert.deepEqual(events, ['in force 1', '/first']);
    inForce.resolve();
    await feed.results(task, 2);
    assert.deepEqual(events, ['in force 1', '/first', 'in force 2', '/second']);
  });

  test('prefetches of an account in flight are at most four, and the next begins when one ends', async (t) => {
    await using feed = await startFeed(t, newDatabase);
    const task = await feed.newTask();
    await publishNow(feed.db, ...Array.from({ length: 12 }, (_, n) => putPrefetch(task, n, `/${n}`)));
    const waiting: PromiseWithResolvers<PrefetchOutcome>[] = [];
    await using _edge = startTestEdge(feed.folder, feed.socketPath, {
      prefetch: () => {
        const one = Promise.withResolvers<PrefetchOutcome>();
        waiting.push(one);
        return one.promise;
      },
    });
    await eventually('four are under way', () => waiting.length === 4);
    for (let done = 1; done <= 8; done++) {
      waiting[done - 1]?.resolve(STORED);
      await eventually('another begins', () => waiting.length === 4 + done);
    }
    for (const { resolve } of waiting) resolve(STORED);
    await feed.results(task, 12);
    assert.equal(waiting.length, 12);
  });

  test('accounts take turns: slow prefetches of one do not delay the others, which cannot take all places either', async (t) => {
    await using feed = await startFeed(t, newDatabase);
    const task = await feed.newTask();
    const of = (accountId: number, count: number, from: number) =>
      Array.from({ length: count }, (_, n) => putPrefetch(task, from + n, `/${accountId}`, accountId));
    await publishNow(feed.db, ...of(1, 40, 0), ...of(2, 40, 40));
    const started: string[] = [];
    const ends: (() => void)[] = [];
    await using _edge = startTestEdge(feed.folder, feed.socketPath, {
      prefetch: ({ target }) => {
        started.push(target);
        return new Promise((resolve) => ends.push(() => resolve(STORED)));
      },
    });
    await eventually('both have their share', () => started.length === 8);
    const counts = () => Object.groupBy(started, (target) => target);
    assert.deepEqual([counts()['/1']?.length, counts()['/2']?.length], [4, 4]);
    await publishNow(feed.db, ...of(3, 1, 80), ...of(4, 1, 81), ...of(5, 1, 82));
    await eventually('a single one of others begins at once', () =>
      ['/3', '/4', '/5'].every((one) => started.includes(one)),
    );
    for (const end of ends.splice(0)) end();
    await eventually('their turns go round', () => started.length >= 19);
    assert.deepEqual([counts()['/1']?.length, counts()['/2']?.length], [8, 8]);
  });

  test('a prefetch that no worker can take is asked again; an outcome that control does not accept is sent again', async (t) => {
    await using feed = await startFeed(t, newDatabase);
    const task = await feed.newTask();
    await publishNow(feed.db, putPrefetch(task, 0, '/a'));
    let asked = 0;
    await using edge = startTestEdge(feed.folder, feed.socketPath, {
      prefetch: async () => {
        asked += 1;
        if (asked === 1) return undefined;
        await feed.stopServer();
        return STORED;
      },
    });
    await eventually('it is done', () => edge.store.prefetches.listUnreported(9).length === 1, 60_000);
    assert.equal(asked, 2);
    await feed.startServer();
    await feed.results(task, 1);
    await eventually('it is told', () => edge.store.prefetches.listUnreported(9).length === 0);
  });

  test('a withdrawn prefetch is not run, and is forgotten with its outcome', async (t) => {
    await using feed = await startFeed(t, newDatabase);
    const task = await feed.newTask(systemClock());
    await publishNow(feed.db, putPrefetch(task, 0, '/a'), putPrefetch(task, 1, '/b'));
    const { promise, resolve } = Promise.withResolvers<PrefetchOutcome>();
    await using edge = startTestEdge(feed.folder, feed.socketPath, { prefetch: () => promise });
    await eventually('it has begun', () => edge.store.prefetches.listPending(9, 9).length === 2);
    await tidy(feed.db, systemClock() + DAY_MS - 60_000);
    await tidy(feed.db, systemClock() + DAY_MS + 1);
    await eventually('the edge knows', () => edge.store.prefetches.listPending(9, 9).length === 0);
    resolve(STORED);
    await publishNow(feed.db, putPrefetch(task, 2, '/c'));
    await feed.results(task, 1);
    assert.deepEqual(await listPrefetchResults(feed.db.query, task), [{ n: 2, edge: 'local', failure: undefined }]);
  });

  test('a report of another history, of an unknown task, or in a wrong form changes nothing', async (t) => {
    await using feed = await startFeed(t, newDatabase);
    const task = await feed.newTask();
    const at = await readConfigHead(feed.db.query);
    const report = { edge: 'local', at, results: [{ taskId: task, n: 0 }] };
    const rows: readonly (readonly [what: string, report: object, status: number])[] = [
      ['another epoch', { ...report, at: { ...at, epoch: 'another' } }, 204],
      ['another history', { ...report, at: { ...at, tag: 'another' } }, 204],
      ['an unknown item', { ...report, results: [{ taskId: task, n: ITEMS.length }] }, 204],
      ['an unknown task', { ...report, results: [{ taskId: task + 1, n: 0 }] }, 204],
      ['an edge with a path for a name', { ...report, edge: '../x' }, 400],
      ['no results', { ...report, results: {} }, 400],
      ['too many results', { ...report, results: Array(101).fill(report.results[0]) }, 400],
      ['a task as text', { ...report, results: [{ taskId: '1', n: 0 }] }, 400],
      ['an empty reason', { ...report, results: [{ taskId: task, n: 0, failure: '' }] }, 400],
      ['a long reason', { ...report, results: [{ taskId: task, n: 0, failure: 'x'.repeat(101) }] }, 400],
    ];
    const send = async (value: object) => {
      const body = JSON.stringify(value);
      const head = `POST /edge/v1/prefetch HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n`;
      return /^HTTP\/1.1 (\d+)/.exec(await sendRaw(feed.socketPath, `${head}\r\n${body}`))?.[1];
    };
    for (const [what, value, status] of rows) assert.equal(await send(value), String(status), what);
    assert.deepEqual(await listPrefetchResults(feed.db.query, task), []);
    assert.equal(await send(report), '204');
    assert.equal((await listPrefetchResults(feed.db.query, task)).length, 1);
  });

  test('a task and its reports are deleted after 30 days', async (t) => {
    await using feed = await startFeed(t, newDatabase);
    const task = await feed.newTask(1000);
    await publishNow(feed.db, putPrefetch(task, 0, '/a'));
    await using _edge = startTestEdge(feed.folder, feed.socketPath);
    await feed.results(task, 1);
    await tidy(feed.db, 1000 + 30 * DAY_MS);
    assert.ok(await findTask(feed.db.query, { accountId: 1, domainIds: undefined, id: task }));
    await tidy(feed.db, 1001 + 30 * DAY_MS);
    assert.equal(await findTask(feed.db.query, { accountId: 1, domainIds: undefined, id: task }), undefined);
    assert.deepEqual(await listPrefetchResults(feed.db.query, task), []);
  });
});

async function startFeed(t: Parameters<NewDatabase>[0], newDatabase: NewDatabase) {
  const folder = temporaryFolder(t);
  const socketPath = join(folder, 'feed.sock');
  const db: Db = await openTestDatabase(await newDatabase(t));
  await createAccount(db.query, { name: 'a', kind: 'customer', now: 1 });
  // At an instant at which nothing is old: what is let go of in these tests, they let go of themselves.
  const start = () => startFeedServer({ db, socketPath, clock: () => 1000, log: silentLog });
  let server: FeedServer | undefined = await start();
  const stopServer = async () => {
    const stopping = server;
    server = undefined;
    await stopping?.[Symbol.asyncDispose]();
  };
  return {
    folder,
    socketPath,
    db,
    newTask: (createdAt = 1000) =>
      db.transaction((trx) => insertTask(trx, { accountId: 1, kind: 'prefetch', createdAt, items: ITEMS })),
    results: (task: number, count: number) =>
      eventually(`${count} results`, async () => (await listPrefetchResults(db.query, task)).length === count, 60_000),
    stopServer,
    async startServer() {
      server = await start();
    },
    async [Symbol.asyncDispose]() {
      await stopServer();
      await db[Symbol.asyncDispose]();
    },
  };
}
