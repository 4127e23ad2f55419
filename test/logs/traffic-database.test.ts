/** What edges tell of their traffic, in the database and the blob store: once, whatever comes twice; on both engines. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ALONE } from '#db/peers/peers.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { insertDomain } from '#db/tables/domains.ts';
import { deleteLogParts, listLogDays, listLogParts } from '#db/tables/log-parts.ts';
import { listSums, listTop, pruneStatistics, type StoredGrain } from '#db/tables/statistics.ts';
import { MINUTE_MS } from '#lib/durations.ts';
import { createLogger } from '#lib/logger.ts';
import { noCounters } from '#logs/counters.ts';
import { createTraffic } from '#logs/receive.ts';
import type { LogPart } from '#logs/report.ts';
import { forgetOldTraffic } from '#logs/retention.ts';
import { localBlobStore } from '#logs/store/local.ts';
import { DEFAULT_SETTINGS } from '#model/domain.ts';
import { openControlTraffic } from '#roles/control/control-traffic.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openTestDatabase } from '../support/feed/feed.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Midnight in Shanghai. */
const MIDNIGHT = Date.parse('2025-01-31T16:00:00Z');
const HOUR_MS = 60 * MINUTE_MS;

const PART: LogPart = {
  key: { domainId: 7, day: '2025-02-01', hour: '00', edge: 'edge-1', file: 'worker-1-20250131T160000000Z-0000' },
  lines: 2,
  firstAt: MIDNIGHT,
  top: {
    url: [{ value: '/a', requests: 2, bytes: 20 }],
    referer: [],
    client: [{ value: '203.0.113.9', requests: 2, bytes: 20 }],
    status: [{ value: '200', requests: 2, bytes: 20 }],
  },
  gzip: gzipSync('one\ntwo\n'),
};

/** Added long before. */
const DOMAIN = {
  type: 'static',
  icpNumber: '',
  remark: '',
  state: 'open',
  createdAt: 0,
  settings: DEFAULT_SETTINGS,
} as const;

async function start(t: TestContext, newDatabase: NewDatabase) {
  const db = await openTestDatabase(await newDatabase(t));
  t.after(() => db[Symbol.asyncDispose]());
  const accountId = (await createAccount(db.query, { name: 'a', kind: 'customer', now: 0 })).id;
  for (let id = 1; id <= 8; id++) await insertDomain(db.query, { ...DOMAIN, accountId, name: `d${id}.example.com` });
  const folder = temporaryFolder(t);
  const blobs = localBlobStore(folder);
  return { db, folder, traffic: createTraffic({ db, blobs, timeZone: 'Asia/Shanghai', clock: () => MIDNIGHT }) };
}

describeOnBothEngines('traffic of edges', (newDatabase) => {
  test('a part of a log is stored once, with its most frequent values', async (t) => {
    const { db, folder, traffic } = await start(t, newDatabase);
    const later = { ...PART, firstAt: MIDNIGHT + HOUR_MS, key: { ...PART.key, hour: '01' } };
    await Promise.all([traffic.takePart(PART), traffic.takePart(PART), traffic.takePart(later)]);
    await traffic.takePart(PART);
    const days = await listLogDays(db.query, { domainIds: [7, 8], firstDay: '2025-02-01', lastDay: '2025-02-01' });
    assert.deepEqual(days, [{ domainId: 7, day: '2025-02-01', bytes: 2 * PART.gzip.length }]);
    const parts = await listLogParts(db.query, 7, '2025-02-01');
    assert.deepEqual(parts.map(({ key }) => key.slice(0, 15)).sort(), ['7/2025-02-01/00', '7/2025-02-01/01']);
    assert.equal(readdirSync(`${folder}/7/2025-02-01`).length, 2);
    const asked = { domainIds: [7], kind: 'url', from: MIDNIGHT, to: MIDNIGHT + 2 * HOUR_MS, limit: 10 };
    assert.deepEqual(await listTop(db.query, asked), [{ value: '/a', requests: 4, bytes: 40 }]);
    const first = { ...asked, kind: 'client', to: MIDNIGHT + HOUR_MS };
    assert.deepEqual(await listTop(db.query, first), [{ value: '203.0.113.9', requests: 2, bytes: 20 }]);
  });

  test('a file grows at its end only, also when parts come at once', async (t) => {
    const { db, traffic } = await start(t, newDatabase);
    const hours = Array.from({ length: 24 }, (_, n) => String((n * 7) % 24).padStart(2, '0'));
    const taking = Promise.all(hours.map((hour) => traffic.takePart({ ...PART, key: { ...PART.key, hour } })));
    let seen: string[] = [];
    while (seen.length < hours.length) {
      const keys = (await listLogParts(db.query, 7, '2025-02-01')).map(({ key }) => key);
      assert.deepEqual(keys.slice(0, seen.length), seen);
      seen = keys;
    }
    await taking;
    assert.equal(new Set(seen).size, hours.length);
  });

  test('a file of which a part has been deleted is not offered: the rest is not what was served', async (t) => {
    const { db, traffic } = await start(t, newDatabase);
    for (const hour of ['00', '01', '02']) await traffic.takePart({ ...PART, key: { ...PART.key, hour } });
    const [first] = await listLogParts(db.query, 7, '2025-02-01');
    await deleteLogParts(db.query, [first?.key ?? '']);
    assert.deepEqual(await listLogParts(db.query, 7, '2025-02-01'), []);
    const span = { domainIds: [7], firstDay: '2025-02-01', lastDay: '2025-02-01' };
    assert.deepEqual(await listLogDays(db.query, span), []);
  });

  test('the most frequent hundred of each hour are stored', async (t) => {
    const { db, traffic } = await start(t, newDatabase);
    for (let part = 0; part < 4; part++) {
      const url = Array.from({ length: 50 }, (_, n) => ({ value: `/${part}/${n}`, requests: 1 + n, bytes: 1 }));
      const key = { ...PART.key, file: `worker-${part}-20250131T160000000Z-0000` };
      await traffic.takePart({ ...PART, key, top: { url, referer: [], client: [], status: [] } });
    }
    const asked = { domainIds: [7], kind: 'url', from: MIDNIGHT, to: MIDNIGHT + HOUR_MS, limit: 1000 };
    const kept = await listTop(db.query, asked);
    assert.equal(kept.length, 100);
    assert.equal(kept[0]?.requests, 50);
    assert.equal(kept.at(-1)?.requests, 26);
  });

  test('a report is added once, to its minute, hour and day', async (t) => {
    const { db, traffic } = await start(t, newDatabase);
    const counts = { ...noCounters(), requests: 3, bytesOut: 2 ** 40, status2xx: 2, status5xx: 1 };
    const minute = MIDNIGHT / MINUTE_MS;
    const report = (sequence: number, at: number, start = 'a') => ({
      edge: 'edge-1',
      start,
      sequence,
      minutes: [
        { ...counts, domainId: 7, minute: at },
        { ...counts, domainId: 8, minute: at },
      ],
    });
    await Promise.all([traffic.takeReport(report(1, minute - 1)), traffic.takeReport(report(1, minute - 1))]);
    await traffic.takeReport(report(2, minute));
    await traffic.takeReport(report(1, minute - 1));
    await traffic.takeReport(report(1, minute, 'b')); // an edge whose outbox was lost begins anew
    const sums = (grain: StoredGrain, domainIds = [7]) =>
      listSums(db.query, { domainIds, grain, from: 0, to: Number.MAX_SAFE_INTEGER });
    const row = { at: 0, requests: 3, bytes_in: 0, bytes_out: 2 ** 40, bytes_origin: 0, hits: 0, hit_bytes: 0 };
    const one = { ...row, status_2xx: 2, status_3xx: 0, status_4xx: 0, status_5xx: 1 };
    const two = { ...one, requests: 6, bytes_out: 2 ** 41, status_2xx: 4, status_5xx: 2 };
    assert.deepEqual(await sums('minute'), [
      { ...one, at: MIDNIGHT - MINUTE_MS },
      { ...two, at: MIDNIGHT },
    ]);
    assert.deepEqual(await sums('day'), [
      { ...one, at: MIDNIGHT - 24 * HOUR_MS },
      { ...two, at: MIDNIGHT },
    ]);
    const many = Array.from({ length: 40_000 }, (_, n) => n);
    assert.equal((await sums('minute', many)).length, 2);
    const both = (await sums('hour', [7, 8])).map(({ at, requests }) => ({ at, requests }));
    assert.deepEqual(both, [
      { at: MIDNIGHT - HOUR_MS, requests: 6 },
      { at: MIDNIGHT, requests: 12 },
    ]);
    const ends = { minute: MIDNIGHT, five: 0, hour: MIDNIGHT + 1, day: 0 };
    await pruneStatistics(db.query, { ofDomains: ends, ofAccounts: ends, top: 0, report: 0 });
    assert.equal((await sums('minute')).length, 1);
    assert.equal((await sums('hour')).length, 0);
    assert.equal((await sums('day')).length, 2);
  });

  test('reports of many edges that arrive together are one row for each domain and minute, and count once', async (t) => {
    const { db, traffic } = await start(t, newDatabase);
    const statements: string[] = [];
    const minute = MIDNIGHT / MINUTE_MS;
    const reportOf = (edge: number, sequence: number) => ({
      ...{ edge: `edge-${edge}`, start: 'a', sequence },
      minutes: [7, 8].map((domainId) => ({ ...noCounters(), requests: 1, bytesOut: edge, domainId, minute })),
    });
    const edges = Array.from({ length: 40 }, (_, n) => n + 1);
    const addSumsOf = db.transaction;
    t.mock.method(db, 'transaction', (...work: Parameters<typeof addSumsOf>) => {
      statements.push('transaction');
      return addSumsOf.apply(db, work);
    });
    // Each comes twice, as from an edge whose answer was lost; the later number makes the earlier one count no more.
    const first = edges.flatMap((edge) => [reportOf(edge, 2), reportOf(edge, 2), reportOf(edge, 1)]);
    await Promise.all(first.map((report) => traffic.takeReport(report)));
    await Promise.all(edges.map((edge) => traffic.takeReport(reportOf(edge, 3))));
    assert.ok(statements.length <= 8, `${statements.length} transactions for 160 reports`);
    const rows = await listSums(db.query, { domainIds: [7], grain: 'minute', from: 0, to: MIDNIGHT + 1 });
    assert.deepEqual(
      rows.map(({ requests, bytes_out }) => [requests, bytes_out]),
      [[80, 2 * 820]],
    );
    const five = await listSums(db.query, { domainIds: [7, 8], grain: 'five', from: 0, to: MIDNIGHT + 1 });
    assert.deepEqual(
      five.map(({ at, requests }) => [at, requests]),
      [[MIDNIGHT, 160]],
    );
  });

  test('a report that cannot be stored fails alone', async (t) => {
    const { traffic, db } = await start(t, newDatabase);
    const minute = MIDNIGHT / MINUTE_MS;
    const reportOf = (edge: string, requests: number) => ({
      ...{ edge, start: 'a', sequence: 1 },
      minutes: [{ ...noCounters(), requests, domainId: 7, minute }],
    });
    const outcomes = await Promise.allSettled(
      [reportOf('edge-1', 1), reportOf('edge-2', Number.NaN), reportOf('edge-3', 1)].map((one) =>
        traffic.takeReport(one),
      ),
    );
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    const [row] = await listSums(db.query, { domainIds: [7], grain: 'minute', from: 0, to: MIDNIGHT + 1 });
    assert.equal(row?.requests, 2);
  });

  test('log files of days that are over are deleted, bytes and rows', async (t) => {
    const { db, folder, traffic } = await start(t, newDatabase);
    const days = ['2025-01-01', '2025-01-02', '2025-02-01'];
    for (const day of days) await traffic.takePart({ ...PART, key: { ...PART.key, day } });
    const blobs = localBlobStore(folder);
    const options = { db, blobs, timeZone: 'Asia/Shanghai', logDays: 30 };
    await forgetOldTraffic(options, MIDNIGHT, new AbortController().signal);
    assert.deepEqual(readdirSync(`${folder}/7`).sort(), ['2025-01-02', '2025-02-01']);
    const left = await listLogDays(db.query, { domainIds: [7], firstDay: '2025-01-01', lastDay: '2025-12-31' });
    assert.deepEqual(
      left.map(({ day }) => day),
      ['2025-02-01', '2025-01-02'],
    );
    const away = { ...blobs, delete: () => Promise.reject(new Error('the storage is away')) };
    const later = forgetOldTraffic({ ...options, blobs: away }, MIDNIGHT + 24 * HOUR_MS, new AbortController().signal);
    await assert.rejects(later, /1 log files could not be deleted/);
    const kept = await listLogDays(db.query, { domainIds: [7], firstDay: '2025-01-02', lastDay: '2025-01-02' });
    assert.equal(kept.length, 1);
  });

  test('expired rows are looked for at the start and then every hour, even after a failure', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const failures: string[] = [];
    const log = createLogger({
      level: 'error',
      name: 'test',
      destination: { write: (line) => void failures.push(line) },
    });
    const { db } = await start(t, newDatabase);
    await db[Symbol.asyncDispose](); // so each round fails
    let looks = 0;
    const watched = new Proxy(db, {
      get: (target, name) => {
        // Recordings have rounds of their own on the same database.
        if (name === 'query' && new Error().stack?.includes('/logs/retention.ts')) looks++;
        return Reflect.get(target, name);
      },
    });
    const config = {
      logStore: { kind: 'local', directory: temporaryFolder(t) },
      timeZone: 'Asia/Shanghai',
      logDays: 30,
      statSeconds: 30,
    } as const;
    await using _traffic = openControlTraffic(config, watched, ALONE, log);
    for (let round = 1; round <= 3; round++) {
      assert.equal(looks, round);
      await eventually(
        'it is over',
        () => failures.filter((line) => line.includes('expired log files')).length === round,
      );
      t.mock.timers.tick(HOUR_MS - 1);
      assert.equal(looks, round);
      t.mock.timers.tick(1);
    }
  });

  test("traffic of an earlier domain with the same number is not the new domain's", async (t) => {
    const { db, folder, traffic } = await start(t, newDatabase);
    await db.query
      .updateTable('domain')
      .set({ created_at: MIDNIGHT + 150_000 })
      .where('id', '=', 7)
      .execute();
    await traffic.takePart(PART);
    // The clock of an edge may be somewhat behind.
    await traffic.takePart({ ...PART, firstAt: MIDNIGHT + 90_000, key: { ...PART.key, hour: '01' } });
    await traffic.takePart({ ...PART, key: { ...PART.key, domainId: 99 } });
    const parts = await listLogParts(db.query, 7, '2025-02-01');
    assert.deepEqual(
      parts.map(({ key }) => key.slice(0, 15)),
      ['7/2025-02-01/01'],
    );
    assert.equal(readdirSync(`${folder}/0/2025-02-01`).length, 2);
    const top = { domainIds: [7], kind: 'url', from: 0, to: Number.MAX_SAFE_INTEGER, limit: 10 };
    assert.deepEqual(await listTop(db.query, top), [{ value: '/a', requests: 2, bytes: 20 }]);
    const minute = MIDNIGHT / MINUTE_MS;
    const minutes = [minute, minute + 1, minute + 2].map((at) => ({
      ...noCounters(),
      requests: 1,
      domainId: 7,
      minute: at,
    }));
    await traffic.takeReport({ edge: 'edge-1', start: 'a', sequence: 1, minutes });
    const asked = { grain: 'minute' as const, from: 0, to: Number.MAX_SAFE_INTEGER };
    assert.equal((await listSums(db.query, { ...asked, domainIds: [7] })).length, 2);
    assert.equal((await listSums(db.query, { ...asked, domainIds: [0] })).length, 1);
  });
});
