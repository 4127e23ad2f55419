/**
 * The feed's process, one per machine with an edge: follows the feed, writes the store that workers read, and probes
 * origins.
 */
import { randomInt } from 'node:crypto';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createGuard } from '#edge/origin/guard.ts';
import { type Prober, startProber } from '#edge/origin/prober.ts';
import { type CdnName, cdnIdOf } from '#edge/origin-headers.ts';
import { startTicketRotation } from '#edge/transport/tls/ticket-file.ts';
import { type FeedClient, startFeedClient } from '#feed/client/client.ts';
import type { StoredChange } from '#feed/client/confirmations.ts';
import type { ControlLink } from '#feed/client/control-link.ts';
import { type EdgeStore, openEdgeStore } from '#feed/store/edge-store.ts';
import { checkAutomata } from '#lib/automaton-check.ts';
import { systemClock } from '#lib/clock.ts';
import { isListening } from '#lib/is-listening.ts';
import { metricsOf } from '#lib/metrics.ts';
import { RecentCounts } from '#logs/recent-counts.ts';
import type { EdgeVitals } from '#model/edge.ts';
import type { OwnCondition } from '#model/edge-health.ts';
import type { PrefetchOutcome, PrefetchRequest } from '#sites/prefetch.ts';
import type { PartContext, RunningPart } from '../process/child.ts';
import type { ReadyNews } from '../process/messages.ts';
import { findWorkers } from '../sockets/worker-sockets.ts';
import { openControlLink } from './control-link.ts';
import type { Dns } from './dns.ts';
import { EdgeAsks } from './edge-asks.ts';
import { type EdgeHealth, startEdgeHealth } from './edge-health.ts';
import { edgeStorePath, ticketSecretsPath } from './edge-paths.ts';
import { placeOf } from './edge-place.ts';
import { EdgePreviews } from './edge-previews.ts';
import { liveSocketPath } from './live-places.ts';
import { createOwnChecks, usedShare } from './own-checks.ts';
import { drainsItself } from './self-drain.ts';
import { startSinks } from './sinks.ts';
import { startTraffic } from './traffic.ts';

/** Time to wait for control at the start; the feed then keeps retrying by itself. */
const CONTROL_START_MS = 15_000;
const POLL_MS = 20;
/** Time for the first try to connect to a control elsewhere. */
const FIRST_TRY_MS = 2_000;
const MAX_FIRST_ID = 2 ** 47;

export async function startEdgeFeed(context: PartContext): Promise<RunningPart> {
  const { config, build, log, registry, send } = context;
  checkAutomata(); // it compiles settings before workers get them
  // Log files are split and packed here: viewers come first. docs/decisions/0271
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const store = openStore(context);
  const parts: FeedParts = {};
  // Before the wait for control, which may be away: names and edges are in the store.
  const dns = await openDns(context, store, parts);
  const link = await openLink(config);
  const workers = askWorkers(send);
  const cdn = { id: cdnIdOf(store.fleetId()) };
  const prober = probeOrigins(context, cdn);
  const recent = new RecentCounts(systemClock());
  const asks = createAsks(context, link, recent);
  const health = startHealth(context, store, parts);
  const sinks = startSinks(context, store);
  const client = startFeedClient({
    link,
    snapshotFile: join(config.dataDir, 'edge', 'snapshot.part'),
    edgeId: config.edgeId,
    build,
    store,
    confirm: (change) => {
      cdn.id = cdnIdOf(store.fleetId());
      dns?.take(change.names); // before the change counts as in force
      health.look();
      return workers.confirm(change);
    },
    prefetch: workers.prefetch,
    asks,
    listOriginTroubles: (max) => prober.listTroubles(max),
    describeVitals: () => ({ ...describeVitals(config, health), sinks: sinks.troubles }),
    onClockOffset: (offsetMs) => health.noteClock(offsetMs),
    clock: systemClock,
    log,
  });
  parts.client = client;
  const traffic = startTraffic(context, link, { recent, sinks });
  addMetrics(registry, client, store);
  const tickets = rotateTickets(context);
  const control = config.roles.includes('control') ? undefined : await tryControl(link, client);
  return {
    news: newsOf(control, dns),
    confirm(id, isRun) {
      workers.noteConfirmed(id, isRun);
      setImmediate(() => health.look()); // after the client has noted it
    },
    takeOutcome: workers.noteOutcome,
    noteOriginUses: prober.note,
    noteVitals: (vitals) => health.noteWorker(vitals),
    takeLines: (lines) => asks.takeLines(lines),
    useLogWriters: traffic.useLogWriters,
    async stop() {
      tickets[Symbol.dispose]();
      await health[Symbol.asyncDispose]();
      prober[Symbol.dispose]();
      // Ends at once: control and workers are ending too, which must not be logged as a loss.
      await client[Symbol.asyncDispose]();
      await traffic[Symbol.asyncDispose]();
      await sinks[Symbol.asyncDispose]();
      asks[Symbol.dispose]();
      link[Symbol.dispose]();
      await dns?.[Symbol.asyncDispose](); // late: reports may take seconds, and resolvers ask meanwhile
      store[Symbol.dispose]();
    },
  };
}

function rotateTickets({ config, log, send }: PartContext): Disposable {
  return startTicketRotation({
    file: ticketSecretsPath(config.dataDir),
    clock: systemClock,
    log,
    onSecrets: (secrets) => send({ kind: 'ticketSecrets', secrets }),
  });
}

function probeOrigins({ config, ownAddresses, log, registry, send }: PartContext, cdn: CdnName): Prober {
  return startProber({
    cdn,
    guard: createGuard({ allow: config.originAllow, refuse: ownAddresses }),
    verify: config.originVerify,
    monotonic: () => performance.now(),
    random: Math.random,
    onReport: (report) => send({ kind: 'originProbes', report }),
    registry,
    log,
  });
}

function createAsks({ config, log, send }: PartContext, link: ControlLink, recent: RecentCounts): EdgeAsks {
  return new EdgeAsks({
    ...{ link, edgeId: config.edgeId, recent, log },
    findWorkers: () => findWorkers(config.dataDir),
    useTails: (tails) => send({ kind: 'tails', tails }),
    previews: new EdgePreviews({ link, edgeId: config.edgeId, liveSocket: liveSocketPath(config.dataDir), log }),
  });
}

function openStore({ config, log }: PartContext): EdgeStore {
  return openEdgeStore(edgeStorePath(config.dataDir), (to) =>
    log.error({ to }, 'the settings file of this edge is damaged; moved it aside and requesting a snapshot'),
  );
}

async function openLink(config: PartContext['config']): Promise<ControlLink> {
  // Control has just been started, too; without waiting, each start would log a failure.
  if (config.roles.includes('control')) await waitForSocket(config.feedSocket);
  return await openControlLink(config);
}

/** Waits a moment for the connection to control, which the start is to tell of. */
async function tryControl(link: ControlLink, client: FeedClient) {
  const address = link.control;
  await Promise.race([client.tried, delay(FIRST_TRY_MS, undefined, { ref: false })]);
  return { address: client.isConnected ? link.control : address, isConnected: client.isConnected };
}

function newsOf(control: ReadyNews['control'], dns: Dns | undefined): ReadyNews {
  const problem = dns?.problem;
  return { ...(control !== undefined && { control }), ...(problem !== undefined && { dnsProblem: problem }) };
}

/** Sends the feed's requests to the workers, through the supervisor. */
function askWorkers(send: PartContext['send']) {
  const confirmed = new Map<number, PromiseWithResolvers<void>>();
  const prefetched = new Map<number, (outcome: PrefetchOutcome | undefined) => void>();
  // Ids start at random: answers to requests of this process's predecessor may still arrive here.
  let lastId = randomInt(MAX_FIRST_ID);
  return {
    confirm({ revision, names }: StoredChange): Promise<void> {
      const id = ++lastId;
      const answer = Promise.withResolvers<void>();
      confirmed.set(id, answer);
      send({ kind: 'changed', id, revision, ...(names !== undefined && { names }) });
      return answer.promise;
    },
    noteConfirmed(id: number, isRun: boolean): void {
      if (isRun) confirmed.get(id)?.resolve();
      else confirmed.get(id)?.reject(new Error('no worker of this edge is running'));
      confirmed.delete(id);
    },
    prefetch: (request: PrefetchRequest) =>
      new Promise<PrefetchOutcome | undefined>((resolve) => {
        const id = ++lastId;
        prefetched.set(id, resolve);
        send({ kind: 'prefetch', id, request });
      }),
    noteOutcome(id: number, outcome: PrefetchOutcome | undefined): void {
      prefetched.get(id)?.(outcome);
      prefetched.delete(id);
    },
  };
}

/** What is known only after the start of others. */
interface FeedParts {
  client?: FeedClient;
  /** The word of the health page. */
  word?: OwnCondition['word'];
}

/** Loads the code of the name server only where there is one. */
async function openDns(context: PartContext, store: EdgeStore, parts: FeedParts): Promise<Dns | undefined> {
  if (!context.config.roles.includes('dns')) return undefined;
  const { startDns } = await import('./dns.ts');
  const isConnected = () => parts.client?.isConnected ?? false;
  return await startDns(context, { store, ownWord: () => parts.word, isConnected });
}

function describeVitals(config: PartContext['config'], health: EdgeHealth): EdgeVitals {
  const place = placeOf(config);
  return { ...health.describe(), ...(place !== undefined && { place }) };
}

/** Checks this machine, and sends the result to the workers and control. */
function startHealth({ config, send, log }: PartContext, store: EdgeStore, parts: FeedParts): EdgeHealth {
  const { roles, edgeId, dataDir, cacheDirectory, cacheDiskBytes } = config;
  let isOrderedToDrain = false;
  return startEdgeHealth({
    workers: roles.includes('edge') ? config.edgeWorkers : 0,
    tierAddress: config.tierAddress,
    checks: createOwnChecks(config),
    hasSettings: () => parts.client?.appliedRevision !== undefined,
    isOrderedToDrain: () => {
      try {
        isOrderedToDrain = store.ordersOf(edgeId)?.isDraining ?? false;
      } catch {
        // The file is being repaired; the last order stays in force.
      }
      return isOrderedToDrain;
    },
    drainsItself: () => drainsItself(dataDir),
    cacheDisk: () => usedShare(cacheDiskBytes === 0 ? dataDir : cacheDirectory),
    onCondition: ({ word }) => {
      parts.word = word;
      send({ kind: 'health', word });
      parts.client?.reportSoon();
    },
    monotonic: () => performance.now(),
    log,
  });
}

/** Waits until control listens: the socket of a killed one may still exist without a listener. */
async function waitForSocket(path: string): Promise<void> {
  const deadline = performance.now() + CONTROL_START_MS;
  while (performance.now() < deadline && !(await isListening(path))) await delay(POLL_MS);
}

function addMetrics(registry: PartContext['registry'], client: FeedClient, store: EdgeStore): void {
  const { gauge, total } = metricsOf(registry);
  gauge('causeway_feed_connected', '1 while this edge follows the feed, else 0', () => (client.isConnected ? 1 : 0));
  gauge(
    'causeway_feed_applied_revision',
    'Revision that every worker of this edge runs; 0 before the first',
    () => client.appliedRevision ?? 0,
  );
  gauge(
    'causeway_feed_rejected_resources',
    'Settings that this edge cannot apply; their previous versions stay in force',
    () => {
      try {
        return store.countRejections();
      } catch {
        return undefined; // the file is being repaired; the last count stays
      }
    },
  );
  total(
    'causeway_feed_reconnects_total',
    'Connections to the feed that were lost or refused since the start',
    () => client.reconnects,
  );
}
