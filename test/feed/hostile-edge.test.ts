/** An edge that was broken into: what it reports counts only for itself and for domains that its group serves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { orderPrefetch } from '#api/settings/cache-orders.ts';
import { setDomainGroups, setGroup } from '#api/settings/edge-groups.ts';
import { FeedRefusal, requestFeed } from '#feed/client/feed-request.ts';
import {
  LIVE_PATH,
  LOGS_PATH,
  PREFETCH_PATH,
  RECORDINGS_PATH,
  STATISTICS_PATH,
  STATUS_PATH,
} from '#feed/wire/protocol.ts';
import { formatRecordingMessage } from '#feed/wire/recording-message.ts';
import { systemClock } from '#lib/clock.ts';
import { MINUTE_MS } from '#lib/durations.ts';
import { noCounters } from '#logs/counters.ts';
import { formatPart, formatReport } from '#logs/report.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { linkTo, makeCredentials } from '../support/feed/fleet-feed.ts';
import { type FleetWorld, startFleetWorld } from '../support/feed/fleet-world.ts';
import { needs } from '../support/runner/needs.ts';

const LIMITS = { purgeUrls: 100, purgeDirectories: 100, prefetchUrls: 100 };
const AT = Date.parse('2026-11-29T10:00:00Z');
const FILE = 'worker-1-20261129T100000000Z-0000';
const NO_TOP = { url: [], referer: [], client: [], status: [] };

describeOnBothEngines('an edge that was broken into', (newDatabase) => {
  test('statistics and logs of foreign domains are counted for no domain, and once', needs('openssl'), async (t) => {
    await using w = await startFleetWorld(t, await newDatabase(t));
    await using control = await w.startControl();
    const { own, foreign } = await addBoth(w);
    using edge = startPoster(w, control.address, 'fra1', 'eu');
    const minutes = [own, foreign, 2 ** 31 - 1].map((domainId) => {
      return { ...noCounters(), requests: 5, domainId, minute: Math.floor(AT / MINUTE_MS) };
    });
    const report = (sequence: number) => formatReport({ edge: 'fra1', start: 'a', sequence, minutes });
    for (const sequence of [2, 2, 1]) assert.equal(await edge.post(STATISTICS_PATH, report(sequence)), 204);
    const sums = await w.db.query
      .selectFrom('stat_sum')
      .select(['domain_id', 'requests'])
      .where('grain', '=', 'minute')
      .orderBy('domain_id')
      .execute();
    assert.deepEqual(sums, [
      { domain_id: 0, requests: 10 },
      { domain_id: own, requests: 5 },
    ]);
    const part = (domainId: number) =>
      formatPart({
        key: { domainId, day: '2026-11-29', hour: '18', edge: 'fra1', file: FILE },
        ...{ lines: 1, firstAt: AT, top: { ...NO_TOP, url: [{ value: '/a', requests: 1, bytes: 1 }] } },
        gzip: gzipSync('a line\n'),
      });
    for (const domainId of [own, foreign, foreign]) assert.equal(await edge.post(LOGS_PATH, part(domainId)), 204);
    const parts = await w.db.query.selectFrom('log_part').select(['domain_id', 'key']).orderBy('domain_id').execute();
    assert.deepEqual(parts, [
      { domain_id: 0, key: `0/2026-11-29/18.fra1.${FILE}.of-${foreign}.log.gz` },
      { domain_id: own, key: `${own}/2026-11-29/18.fra1.${FILE}.log.gz` },
    ]);
    const top = await w.db.query.selectFrom('stat_top').select('domain_id').distinct().execute();
    assert.deepEqual(top, [{ domain_id: own }]);
  });

  test('what an edge had not sent yet still counts when the domain has left its group', needs('openssl'), async (t) => {
    await using w = await startFleetWorld(t, await newDatabase(t));
    await using control = await w.startControl();
    const { own } = await addBoth(w);
    using edge = startPoster(w, control.address, 'fra1', 'eu');
    await setDomainGroups(w.db, { accountId: w.accountId, domainIds: undefined, domainId: own }, [], systemClock());
    const minutes = [{ ...noCounters(), requests: 5, domainId: own, minute: Math.floor(AT / MINUTE_MS) }];
    await edge.post(STATISTICS_PATH, formatReport({ edge: 'fra1', start: 'a', sequence: 1, minutes }));
    const rows = await w.db.query.selectFrom('stat_sum').select('domain_id').distinct().execute();
    assert.deepEqual(rows, [{ domain_id: own }]);
  });

  test('a hostile edge takes no stream of another group, and records none', needs('openssl'), async (t) => {
    await using w = await startFleetWorld(t, await newDatabase(t));
    await using control = await w.startControl();
    const { foreign } = await addBoth(w);
    using owner = startPoster(w, control.address, 'sin1', 'default');
    using edge = startPoster(w, control.address, 'fra1', 'eu');
    const began = (stream: string, broadcast: string) => ({
      ...{ n: 1, kind: 'began', domainId: foreign, app: 'live', stream, broadcast },
      ...{ at: AT, source: 'publish', address: '192.0.2.1' },
    });
    const report = (name: string, ...events: object[]) =>
      JSON.stringify({ edge: name, epoch: 'e', at: AT, events: events.map((each, n) => ({ ...each, n: n + 1 })) });
    assert.equal(await owner.post(LIVE_PATH, report('sin1', began('news', 'b1'))), 200);
    await w.db.query.updateTable('live_process').set({ reported_at: 1 }).execute(); // silent: its streams may be taken
    assert.equal(await edge.post(LIVE_PATH, report('fra1', began('news', 'b2'), began('other', 'b3'))), 200);
    const streams = await w.db.query.selectFrom('live_stream').select(['edge', 'stream', 'broadcast']).execute();
    assert.deepEqual(streams, [{ edge: 'sin1', stream: 'news', broadcast: 'b1' }]);
    const message = formatRecordingMessage({
      ...{ edge: 'fra1', recording: 'r1', domainId: foreign, app: 'live', stream: 'news', broadcast: 'b1' },
      ...{ beganAt: AT, n: 0, endsAt: AT + 1000, durationMs: 1000, isDiscontinuity: false, initBytes: 4 },
      bytes: Buffer.from('initmedia'),
    });
    assert.equal(await edge.post(RECORDINGS_PATH, message), 400);
    assert.deepEqual(await w.db.query.selectFrom('live_recording').selectAll().execute(), []);
  });

  test('outcomes of prefetches count only for items of the group', needs('openssl'), async (t) => {
    await using w = await startFleetWorld(t, await newDatabase(t));
    await using control = await w.startControl();
    const { own } = await addBoth(w);
    using edge = startPoster(w, control.address, 'fra1', 'eu');
    const order = {
      accountId: w.accountId,
      domainIds: undefined,
      now: systemClock(),
      today: '2026-01-31',
      limits: LIMITS,
    };
    const urls = ['foreign.example.com', 'own.example.com'].map((host) => {
      return { field: 'urls', kind: 'url', host, target: '/x', keyTarget: '/x', scheme: 'http', asked: host };
    });
    const taskId = await orderPrefetch(w.db, order, urls as unknown as Parameters<typeof orderPrefetch>[2]);
    const { epoch, revision } = await w.db.query.selectFrom('config_head').selectAll().executeTakeFirstOrThrow();
    const { tag } = await w.db.query
      .selectFrom('revision_tag')
      .select('tag')
      .where('revision', '=', revision)
      .executeTakeFirstOrThrow();
    const report = (...results: object[]) => JSON.stringify({ edge: 'fra1', at: { epoch, revision, tag }, results });
    const all = [0, 1, 2, 7].map((n) => ({ taskId, n, failure: 'connect\0' }));
    assert.equal(await edge.post(PREFETCH_PATH, report(...all, { taskId: taskId + 1, n: 0 })), 204);
    const outcomes = await w.db.query.selectFrom('prefetch_outcome').select(['n', 'edge', 'failure']).execute();
    assert.deepEqual(outcomes, [{ n: 1, edge: 'fra1', failure: 'connect' }]);
    assert.ok(own > 0);
    for (const wrong of [
      { taskId: 2 ** 31, n: 0 },
      { taskId, n: 2 ** 31 },
      { taskId, n: -1 },
    ])
      assert.equal(await edge.post(PREFETCH_PATH, report(wrong)), 400, JSON.stringify(wrong));
  });

  test('a body that names another edge is refused on every path', needs('openssl'), async (t) => {
    await using w = await startFleetWorld(t, await newDatabase(t));
    await using control = await w.startControl();
    const { own } = await addBoth(w);
    using edge = startPoster(w, control.address, 'fra1', 'eu');
    const at = { epoch: 'e', revision: 0, tag: 't' };
    const key = { domainId: own, day: '2026-11-29', hour: '18', edge: 'fra2', file: FILE };
    const recording = {
      ...{ edge: 'fra2', recording: 'r1', domainId: own, app: 'live', stream: 'news', broadcast: 'b1' },
      ...{ beganAt: AT, n: 0, endsAt: AT, durationMs: 1, isDiscontinuity: false, initBytes: 4 },
      bytes: Buffer.from('initmedia'),
    };
    const rows: readonly (readonly [string, string | Buffer])[] = [
      [STATUS_PATH, json({ edge: 'fra2', at, appliedRevision: 0, rejected: [], build: 'b', startedAt: 1 })],
      [PREFETCH_PATH, json({ edge: 'fra2', at, results: [] })],
      [LIVE_PATH, json({ edge: 'fra2', epoch: 'e', at: 1, events: [] })],
      [STATISTICS_PATH, formatReport({ edge: 'fra2', start: 'a', sequence: 1, minutes: [] })],
      [LOGS_PATH, formatPart({ key, lines: 1, firstAt: AT, top: NO_TOP, gzip: gzipSync('a\n') })],
      [RECORDINGS_PATH, formatRecordingMessage(recording)],
    ];
    for (const [path, body] of rows) assert.equal(await edge.post(path, body), 403, path);
    for (const table of ['edge', 'live_process', 'stat_report', 'log_part', 'live_recording'] as const)
      assert.deepEqual(await w.db.query.selectFrom(table).selectAll().execute(), [], table);
  });
});

const json = (message: object) => JSON.stringify(message);

async function addBoth(w: FleetWorld) {
  await setGroup(w.db, { name: 'eu', isDefault: false }, 1);
  const { id: own } = await w.addDomain('own.example.com');
  const { id: foreign } = await w.addDomain('foreign.example.com');
  await setDomainGroups(w.db, { accountId: w.accountId, domainIds: undefined, domainId: own }, ['eu'], 1);
  return { own, foreign };
}

/** Posts as an edge of the group. */
function startPoster(w: FleetWorld, control: string, edge: string, group: string) {
  w.groups[edge] = group;
  const link = linkTo([control], makeCredentials(w.authority, edge));
  const { signal } = new AbortController();
  return {
    /** Returns the status. */
    async post(path: string, body: string | Buffer): Promise<number> {
      try {
        const response = await requestFeed({ link, path, signal, silenceMs: 30_000, body });
        response.resume();
        return response.statusCode ?? 0;
      } catch (error) {
        if (error instanceof FeedRefusal) return error.status;
        throw error;
      }
    },
    [Symbol.dispose]: () => link[Symbol.dispose](),
  };
}
