/** States of edges in the database, on both engines: reports, orders, events, and the edges that hold changes back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db } from '#db/open.ts';
import { findEdgeView, listEdgeViews, listLiveEdges, recordEdgeStatus } from '#db/tables/edges.ts';
import { pruneEvents } from '#db/tables/events/events.ts';
import { drainEdge, noteEdgeState, removeEdge, undrainEdge } from '#db/tables/fleet/edge-orders.ts';
import { listFleetEvents } from '#db/tables/fleet/events.ts';
import { readFleetStatus } from '#db/tables/fleet/status.ts';
import { allResources, readConfigHead } from '#db/tables/resources.ts';
import type { EdgeVitals } from '#model/edge.ts';
import { holdingEdges } from '#model/edge-state.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { openTestDatabase, publishNow, putSite, READY } from '../support/feed/feed.ts';

const NOW = 1_800_000_000_000;
const DAY_MS = 24 * 3600 * 1000;

async function report(db: Db, edge: string, at: number, vitals?: Partial<EdgeVitals>): Promise<void> {
  const head = await readConfigHead(db.query);
  const status = {
    ...{ edge, at: head, appliedRevision: head.revision, rejected: [], build: '1.4.0', startedAt: 5, origins: [] },
    ...(vitals !== undefined && { vitals: { ...READY, ...vitals } }),
  };
  assert.equal(await recordEdgeStatus(db.query, status, at), 'recorded');
}

const order = (edge: string, at: number) => ({ edge, at, detail: '', actor: 'token:0' });

describeOnBothEngines('states of edges', (newDatabase) => {
  test('what an edge reports of itself is shown as it was reported', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    await report(db, 'fra1', NOW, { clockOffsetMs: -12, health: [{ check: 'disk', ok: false, detail: 'EROFS' }] });
    await report(db, 'old1', NOW); // of a release without vitals
    const [fra1, old1] = await listEdgeViews(db.query, NOW + 1000);
    assert.ok(fra1 && old1);
    const { state, group, labels, seenAt, load, health, clockOffsetMs, features, build } = fra1;
    assert.deepEqual(
      [state, group, labels, seenAt, load, clockOffsetMs, features, build],
      ['ready', 'default', {}, NOW, READY.load, -12, ['drain'], '1.4.0'],
    );
    assert.deepEqual(health, [{ check: 'disk', ok: false, detail: 'EROFS' }]);
    assert.deepEqual([old1.state, old1.load, old1.health, old1.clockOffsetMs], ['ready', undefined, [], undefined]);
  });

  test('changes wait for ready edges; without one, for those that are seen', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const waits = async (now: number) => holdingEdges(await listLiveEdges(db.query, now)).map(({ edge }) => edge);
    await report(db, 'a', NOW, { state: 'unhealthy' });
    await report(db, 'b', NOW, { state: 'syncing' });
    assert.deepEqual(await waits(NOW), ['a', 'b']);
    await report(db, 'c', NOW);
    await report(db, 'd', NOW, { state: 'ready' });
    assert.deepEqual(await waits(NOW), ['c', 'd']);
    await db.transaction((trx) => drainEdge(trx, order('d', NOW)));
    assert.deepEqual(await waits(NOW), ['c']);
    await report(db, 'd', NOW + 29_000, { state: 'ready' });
    assert.deepEqual(await waits(NOW + 30_000), ['d']); // drained or not, it is the only one that is seen
    assert.deepEqual(await waits(NOW + 60_000), []);
  });

  test('a drain reaches the edge by the feed, is drained after a minute of few requests, and ends', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const stateAt = async (now: number) => (await findEdgeView(db.query, 'fra1', now))?.state;
    const orders = async () => {
      for await (const rows of allResources(db.query, 100)) return rows.map(({ kind, key, body }) => [kind, key, body]);
      return [];
    };
    await report(db, 'fra1', NOW, { load: { ...READY.load, requests: 500 } });
    await db.transaction((trx) => drainEdge(trx, order('fra1', NOW)));
    assert.deepEqual(await orders(), [['edge', 'fra1', '{"isDraining":true}']]);
    await report(db, 'fra1', NOW + 59_999, { load: { ...READY.load, requests: 10 } });
    assert.equal(await stateAt(NOW + 60_000), 'draining');
    await report(db, 'fra1', NOW + 60_000, { load: { ...READY.load, requests: 9.9 } });
    assert.deepEqual([await stateAt(NOW + 60_000), await stateAt(NOW + 3_600_000)], ['drained', 'drained']);
    await db.transaction((trx) => drainEdge(trx, order('fra1', NOW + 60_000))); // the first order counts
    assert.equal(await stateAt(NOW + 60_000), 'drained');
    await db.transaction((trx) => undrainEdge(trx, order('fra1', NOW + 60_000)));
    assert.deepEqual([await stateAt(NOW + 60_000), await orders()], ['ready', []]);
    const { events } = await listFleetEvents(db.query, { edge: 'fra1', limit: 10, offset: 0 });
    assert.deepEqual(
      events.map(({ event, at }) => [event, at - NOW]),
      [
        ['undrain', 60_000],
        ['drain', 60_000],
        ['drain', 0],
      ],
    );
  });

  test('an edge that drains itself does so from its first such report to its first other one', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const view = async () => {
      const found = await findEdgeView(db.query, 'fra1', NOW + 70_000);
      return [found?.state, found?.drainAt, found?.drainsItself];
    };
    const quiet = { load: { ...READY.load, requests: 0 } };
    await report(db, 'fra1', NOW, { state: 'draining', ...quiet });
    await report(db, 'fra1', NOW + 65_000, { state: 'draining', ...quiet });
    assert.deepEqual(await view(), ['drained', NOW, true]);
    await db.transaction((trx) => drainEdge(trx, order('fra1', NOW + 66_000)));
    await report(db, 'fra1', NOW + 67_000, { state: 'ready', ...quiet });
    assert.deepEqual(await view(), ['draining', NOW + 66_000, false]);
  });

  test('a removed edge stays out of the counts, and one of this machine is back with its next report', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    await report(db, 'fra1', NOW, {});
    await db.transaction((trx) => drainEdge(trx, order('fra1', NOW)));
    await db.transaction((trx) => removeEdge(trx, order('fra1', NOW)));
    assert.deepEqual((await findEdgeView(db.query, 'fra1', NOW))?.state, 'removed');
    assert.deepEqual((await readFleetStatus(db.query, NOW)).counts, []);
    assert.deepEqual(await listLiveEdges(db.query, NOW), []);
    await report(db, 'fra1', NOW + 1000, {});
    assert.deepEqual((await findEdgeView(db.query, 'fra1', NOW + 1000))?.state, 'ready');
  });

  test('a state that several controls notice has one event', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    await report(db, 'fra1', NOW, {});
    const note = (before: '' | 'ready', state: 'ready' | 'away') =>
      db.transaction((trx) => noteEdgeState(trx, { edge: 'fra1', before, state, at: NOW }));
    await Promise.all([note('', 'ready'), note('', 'ready'), note('', 'ready')]);
    await Promise.all([note('ready', 'away'), note('ready', 'away')]);
    const { total, events } = await listFleetEvents(db.query, { limit: 10, offset: 0 });
    assert.deepEqual([total, events.map(({ detail }) => detail)], [2, ['ready → away', 'ready']]);
  });

  test('the summary says how far the last of the ready edges is behind, and for how long', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const now = Date.now();
    await report(db, 'a', now, {});
    await report(db, 'b', now, { state: 'unhealthy' });
    const { revision } = await readConfigHead(db.query);
    await publishNow(db, putSite(1, 'a.example.com'));
    await publishNow(db, putSite(2, 'b.example.com'));
    const { lagSeconds, ...status } = await readFleetStatus(db.query, Date.now() + 7000);
    assert.deepEqual(status, {
      headRevision: revision + 2,
      counts: [
        { group: 'default', state: 'ready', count: 1 },
        { group: 'default', state: 'unhealthy', count: 1 },
      ],
      lagRevisions: 2,
      controls: [],
      isSynchronous: db.engine === 'sqlite' ? undefined : false,
    });
    assert.ok(lagSeconds >= 7 && lagSeconds < 60, String(lagSeconds));
  });

  test('events are forgotten after 90 days', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    await report(db, 'fra1', NOW, {});
    for (const at of [NOW - 91 * DAY_MS, NOW - 89 * DAY_MS])
      await db.transaction((trx) => drainEdge(trx, order('fra1', at)));
    await db.transaction((trx) => pruneEvents(trx, NOW));
    const { events } = await listFleetEvents(db.query, { limit: 10, offset: 0 });
    assert.deepEqual(
      events.map(({ at }) => at),
      [NOW - 89 * DAY_MS],
    );
  });
});
