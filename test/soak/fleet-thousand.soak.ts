/**
 * A thousand edges at one control, 100 ms away: changes, restarts of control, and a thousand of them without settings.
 * `CAUSEWAY_EDGES` and `CAUSEWAY_CHANGES` make it smaller. Six minutes on a quiet machine with two processors.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { readConfigHead } from '#db/tables/resources.ts';
import { readViews } from '#feed/publish/views.ts';
import { revokeEdge } from '#fleet/operate.ts';
import { newPostgres } from '../support/db/databases.ts';
import { EDGES, startCrowd } from '../support/fleet/crowd.ts';
import { startDelayedWay } from '../support/fleet/delayed-way.ts';
import { issueIdentities } from '../support/fleet/issue-identities.ts';
import { fillDomains, type LargeFleet, loadText, startLargeFleet, untilQuiet } from '../support/fleet/large-fleet.ts';
import { needs } from '../support/runner/needs.ts';

const CHANGES = Number(process.env['CAUSEWAY_CHANGES'] ?? 200);
/** Edges that are services of their own, with processes, workers and files. */
const WHOLE_EDGES = 3;
const DELAY_MS = 100;
const MINUTES = 60_000;
const MANY_SITES = 10_000;
const MOST_SITES = 100_000;
const MAX_TRANSFERS = 16;

test('a thousand edges follow a control', { timeout: 6 * MINUTES }, async (t) => {
  const fleet = await startLargeFleet(t);
  await gather(t, fleet);
  // Each stage has its figures, also if an earlier one has missed its goal.
  await t.test('a change is in force within a second', (stage) => changeAll(stage, fleet, CHANGES));
  await t.test('all are back after a restart of control', (stage) => restart(stage, fleet, 'stop'));
  await t.test('all are back after control was killed', (stage) => restart(stage, fleet, 'kill'));
  await t.test('a revoked edge is cut within a second', (stage) => revokeOne(stage, fleet));
});

test('a thousand edges follow a control with PostgreSQL', needs('postgres', { timeout: 3 * MINUTES }), async (t) => {
  const { url } = await newPostgres(t);
  const fleet = await startLargeFleet(t, { databaseUrl: url });
  await gather(t, fleet);
  await t.test('a change is in force within a second', (stage) => changeAll(stage, fleet, Math.ceil(CHANGES / 4)));
});

test('edges without settings share the transfers of a control', { timeout: 5 * MINUTES }, async (t) => {
  const fleet = await startLargeFleet(t, { settings: { CAUSEWAY_FLEET_SNAPSHOT_RATE: '1000' } });
  await fillDomains(fleet.db, MANY_SITES);
  const crowd = startCrowd(t, await issueIdentities(fleet, namesOf(EDGES), []));
  const startedAt = performance.now();
  const downloading = crowd.download({ port: fleet.port });
  let most = 0;
  const stop = new AbortController();
  const watching = watch(stop.signal, async () => {
    const running = await fleet.metric('causeway_fleet_snapshot_transfers');
    if (running > most) most = running; // not a number while control is too busy to answer
  });
  const done = await downloading;
  const seconds = (performance.now() - startedAt) / 1000;
  stop.abort();
  await watching;
  const begun = await fleet.metric('causeway_fleet_snapshots_total');
  say(t, `${done.complete} snapshots of ${MANY_SITES} sites, ${Math.round(done.bytes / done.complete)} bytes each`, {
    seconds,
    refused: done.refused,
    failed: done.failed,
    mostTransfers: most,
    controlCpuSeconds: fleet.cpuSeconds(),
  });
  assert.deepEqual([done.complete, begun], [EDGES, EDGES]);
  assert.ok(most <= MAX_TRANSFERS, String(most));
  assert.ok(seconds < 180, String(seconds));
});

test('an edge without settings is ready with a hundred thousand sites', { timeout: 5 * MINUTES }, async (t) => {
  const fleet = await startLargeFleet(t, { settings: { CAUSEWAY_FLEET_SNAPSHOT_RATE: '1000' } });
  await fillDomains(fleet.db, MOST_SITES);
  const { revision } = await readConfigHead(fleet.db.query);
  const startedAt = performance.now();
  const [edge] = await Promise.all([fleet.startEdge('whole-0', fleet.port), fleet.untilApplied(revision, 1)]);
  const seconds = (performance.now() - startedAt) / 1000;
  const bytes = await fleet.metric('causeway_fleet_snapshot_bytes_total');
  say(t, `an edge with ${MOST_SITES} sites is ready`, { seconds, bytes });
  assert.equal(await edge.stop(), 0);
});

/** Starts all edges and waits until each has reported. None takes a snapshot but the whole ones. */
async function gather(t: TestContext, fleet: LargeFleet): Promise<void> {
  const [startedAt, mibBefore] = [performance.now(), fleet.memoryMib()];
  const { db, port } = fleet;
  const identities = await issueIdentities(fleet, namesOf(EDGES - WHOLE_EDGES), []);
  const { epoch, revision, tag } = await readConfigHead(db.query);
  const { id: view } = (await readViews(db.query))('default');
  startCrowd(t, identities).follow({ port, at: { epoch, revision, tag }, view, delayMs: DELAY_MS });
  const way = await startDelayedWay({ port }, DELAY_MS);
  t.after(() => way[Symbol.asyncDispose]());
  for (let n = 0; n < WHOLE_EDGES; n += 1) await fleet.startEdge(`whole-${n}`, way.port);
  await fleet.untilReported(1, EDGES);
  await untilQuiet(fleet);
  say(t, `${EDGES} edges follow`, {
    seconds: (performance.now() - startedAt) / 1000,
    controlMib: [mibBefore, fleet.memoryMib()],
  });
  assert.equal(await fleet.metric('causeway_fleet_snapshots_total'), WHOLE_EDGES);
}

async function changeAll(t: TestContext, fleet: LargeFleet, count: number): Promise<void> {
  const { domain_id } = await fleet.client.call('domain.add', {
    domain: 'www.example.com',
    cdn_type: '1',
    data: '192.0.2.1',
  });
  await fleet.untilApplied((await readConfigHead(fleet.db.query)).revision, EDGES);
  const [sinceCall, sinceAnswer]: [number[], number[]] = [[], []];
  const [cpuBefore, startedAt] = [fleet.cpuSeconds(), performance.now()];
  for (let n = 0; n < count; n += 1) {
    const calledAt = performance.now();
    await fleet.client.call('domain.updateOrigin', { domain_id, data: [`192.0.2.${2 + (n % 200)}`] });
    const answeredAt = performance.now();
    await fleet.untilApplied((await readConfigHead(fleet.db.lookUps)).revision, EDGES);
    const now = performance.now();
    sinceCall.push(now - calledAt);
    sinceAnswer.push(now - answeredAt);
  }
  const wallSeconds = (performance.now() - startedAt) / 1000;
  const cpuSeconds = fleet.cpuSeconds() - cpuBefore;
  say(t, `${count} changes, ${EDGES} edges, ${fleet.db.engine}`, {
    sinceCallMs: percentiles(sinceCall),
    sinceAnswerMs: percentiles(sinceAnswer),
    controlCpuMsPerChange: (cpuSeconds * 1000) / count,
    controlCores: cpuSeconds / wallSeconds,
  });
  assert.equal((await fleet.client.call('domain.get', { domain_id })).domain_status, 2);
  assert.ok(percentiles(sinceAnswer).p99 < 1000, JSON.stringify(percentiles(sinceAnswer)));
}

/** An edge is back when it has a stream and its report to the new process is stored. */
async function restart(t: TestContext, fleet: LargeFleet, how: 'stop' | 'kill'): Promise<void> {
  const endedAt = performance.now();
  const since = await fleet.restart(how);
  const readyAt = performance.now();
  await fleet.untilReported(since, EDGES);
  await fleet.untilConnected(EDGES);
  const [cpuSeconds, backAt] = [fleet.cpuSeconds(), performance.now()];
  say(t, `${EDGES} edges after ${how} of control`, {
    secondsSinceReady: (backAt - readyAt) / 1000,
    secondsSinceEnd: (backAt - endedAt) / 1000,
    controlCores: (cpuSeconds * 1000) / (backAt - endedAt),
    snapshots: await fleet.metric('causeway_fleet_snapshots_total'),
  });
  assert.ok(backAt - readyAt < 15_000, String(backAt - readyAt));
  assert.ok((cpuSeconds * 1000) / (backAt - endedAt) < 1);
  assert.equal(await fleet.metric('causeway_fleet_snapshots_total'), 0);
  await untilQuiet(fleet);
}

/** The stream of a revoked edge is cut although nobody tells control: it looks at the database by itself. */
async function revokeOne(t: TestContext, fleet: LargeFleet): Promise<void> {
  await fleet.untilConnected(EDGES);
  const revokedAt = performance.now();
  const order = { edge: 'edge-1', reason: 'soak', now: fleet.db.clock(), actor: 'soak' };
  assert.equal(await revokeEdge(fleet.db, order), true);
  const isCut = async () => (await fleet.metric('causeway_feed_connected_edges')) < EDGES;
  while (!(await isCut())) assert.ok(performance.now() - revokedAt < 10_000);
  const cutMs = performance.now() - revokedAt;
  say(t, `one of ${EDGES} edges revoked`, { cutMs });
  assert.ok(cutMs < 1000, String(cutMs));
}

function namesOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `edge-${n}`);
}

async function watch(signal: AbortSignal, look: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await look();
    await delay(50, undefined, { signal }).catch(() => undefined); // the end
  }
}

function percentiles(samples: readonly number[]) {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN);
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

function say(t: TestContext, what: string, figures: Readonly<Record<string, unknown>>): void {
  const rounded = (_: string, value: unknown) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value);
  t.diagnostic(`${what} (${loadText()}): ${JSON.stringify(figures, rounded)}`);
}
