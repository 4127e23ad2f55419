/** A process that serves viewers. Reads the store that the feed writes; shares its port with the other workers. */
import { join } from 'node:path';
import type { BufferDisk } from '#edge/buffers/buffers.ts';
import { createGuard } from '#edge/origin/guard.ts';
import { cdnIdOf } from '#edge/origin-headers.ts';
import type { Question } from '#edge/pipeline/explain.ts';
import { type Edge, type RateSharing, startEdge, type TierOptions } from '#edge/server.ts';
import { openStore } from '#edge/store/open.ts';
import { createProblemReport } from '#edge/store/problems.ts';
import type { HttpsOptions } from '#edge/transport/https.ts';
import { makeTicketSecret, readTicketSecrets } from '#edge/transport/tls/ticket-file.ts';
import { openSiteReader, type SiteReader } from '#feed/store/edge-store.ts';
import { systemClock } from '#lib/clock.ts';
import { metricsOf } from '#lib/metrics.ts';
import { reportNodeInternals } from '#lib/node-internals/report.ts';
import { createSiteTable } from '#sites/lookup.ts';
import type { PartContext, RunningPart } from '../process/child.ts';
import { UNDER_WAY } from '../process/messages.ts';
import { VITALS_MS } from '../process/worker-vitals.ts';
import { openLocalSocket } from '../sockets/local-socket.ts';
import { workerSocketPath } from '../sockets/worker-sockets.ts';
import { openAccessLog } from './access-log.ts';
import { edgeStorePath, ticketSecretsPath } from './edge-paths.ts';
import { createHealthPage } from './health-page.ts';
import { liveSocketPath } from './live-places.ts';
import { descriptorLimit, descriptorShare } from './own-checks.ts';
import { openTierIdentity } from './tier-identity.ts';

/** Compiled sites kept in memory; others are read when they are requested. */
const MAX_SITES = 10_000;
/** Share of the cache's memory for bytes that slow clients leave unread while bodies are stored. */
const LAG_SHARE = 1 / 4;
/** Share of the cache's memory for shortcuts, beside what the store has not filled yet. */
const SHORTCUT_SHARE = 1 / 16;
/** A request for an unknown host. */
const SELF_CHECK: Question = {
  method: 'GET',
  scheme: 'http',
  host: 'self-check.invalid',
  target: '/',
  headers: [],
  clientAddress: '127.0.0.1',
};
/** Interval of reporting the origins in use, so that one that failed is probed soon. */
const USES_EVERY_MS = 500;

export async function startEdgeWorker(context: PartContext): Promise<RunningPart> {
  const { config, ownAddresses, sockets, log, registry } = context;
  reportNodeInternals(log);
  const source = openSiteReader(edgeStorePath(config.dataDir));
  const sites = createSiteTable({ source, maxSites: MAX_SITES });
  const { log: accessLog, use: useTails } = openAccessLog(context);
  const memoryBytes = Math.floor(config.cacheMemoryBytes / config.edgeWorkers);
  const store = openStore({
    memoryBytes: memoryBytes * (1 - SHORTCUT_SHARE),
    directory: config.cacheDirectory,
    diskBytes: config.cacheDiskBytes,
    onProblem: createProblemReport(log, registry),
  });
  const health = createHealthPage(config, context.health);
  const cdn = { id: cdnIdOf(source.fleetId()) };
  const edge = await startEdge({
    cdn,
    listen: config.edgeHttpListen,
    reusePort: config.edgeWorkers > 1,
    sockets: sockets.http,
    sites,
    challenges: source,
    health: health.page,
    store,
    maxLagBytes: memoryBytes * LAG_SHARE,
    bufferDisk: bufferDisk(context),
    maxShortcutBytes: () => Math.max(memoryBytes * SHORTCUT_SHARE, memoryBytes - store.usage().bytes),
    guard: createGuard({ allow: config.originAllow, refuse: ownAddresses }),
    originVerify: config.originVerify,
    accessLog,
    clock: systemClock,
    log,
    registry,
    https: httpsOptions(context, source),
    live: liveOptions(context, source),
    tier: await tierOptions(context, source),
    rates: rateSharing(context),
    proxies: { trusted: config.edgeTrustedProxies, protocol: config.edgeProxyProtocol },
  });
  const explainSocket = await openExplain(context, edge);
  metricsOf(registry).gauge(UNDER_WAY, "Viewers' requests that are being served", () => edge.underWay);
  const telling = [tellVitals(context, edge), tellUses(context, edge)];
  const end = createEnd(explainSocket, async () => {
    for (const each of telling) clearInterval(each);
    await store[Symbol.asyncDispose]();
    await accessLog.close();
    source[Symbol.dispose]();
  });
  return {
    applyChange: ({ names }) => {
      cdn.id = cdnIdOf(source.fleetId());
      sites.forget(names);
      edge.https?.forget(names);
      edge.recheck();
    },
    useTicketSecrets: (secrets) => edge.https?.useTicketSecrets(secrets),
    applyOriginProbes: edge.applyOriginProbes,
    applyRates: edge.applyRates,
    useHealth: health.use,
    useTails,
    prefetch: edge.prefetch,
    drain: (limits) => end(() => edge.drain(limits)),
    stop: (graceMs) => end(() => edge.close(graceMs)),
  };
}

function bufferDisk({ config: { dataDir, bufferDiskSize, edgeWorkers } }: PartContext): BufferDisk {
  return { directory: join(dataDir, 'edge', 'buffers'), maxBytes: Math.floor(bufferDiskSize / edgeWorkers) };
}

function rateSharing({ config, rateSeed, send }: PartContext): RateSharing {
  return { seed: rateSeed, workers: config.edgeWorkers, tell: (counts) => send({ kind: 'clientRates', counts }) };
}

async function openExplain({ config, name, isSuccessor, log }: PartContext, edge: Edge): Promise<AsyncDisposable> {
  // A successor takes over only once it can decide about a request.
  if (isSuccessor) await edge.explain(SELF_CHECK);
  return await openLocalSocket({
    path: workerSocketPath(config.dataDir, name),
    answer: (question) => edge.explain(question as Question), // our own command asks; the stages check the texts
    log,
  });
}

/**
 * Returns a function that ends the edge in a given way, and then everything else, once. It first closes the socket for
 * commands, which other workers answer.
 */
function createEnd(
  explainSocket: AsyncDisposable,
  closeRest: () => Promise<void>,
): (endEdge: () => Promise<void>) => Promise<void> {
  let closed: Promise<void> | undefined;
  return async (endEdge) => {
    await explainSocket[Symbol.asyncDispose]();
    await endEdge();
    closed ??= closeRest();
    await closed;
  };
}

/** Reports the vitals of this worker to the feed's process, at once and then at an interval. */
function tellVitals({ name, send }: PartContext, edge: Edge): NodeJS.Timeout {
  const limit = descriptorLimit();
  const tell = () => {
    const descriptors = descriptorShare(limit);
    send({
      kind: 'vitals',
      vitals: { worker: name, pid: process.pid, ...edge.counts(), underWay: edge.underWay, descriptors },
    });
  };
  tell();
  return setInterval(tell, VITALS_MS);
}

function tellUses({ send }: PartContext, edge: Edge): NodeJS.Timeout {
  return setInterval(() => {
    const uses = edge.takeOriginUses();
    if (uses.length > 0) send({ kind: 'originUses', uses });
  }, USES_EVERY_MS);
}

async function tierOptions({ config, sockets }: PartContext, source: SiteReader): Promise<TierOptions | undefined> {
  const identity = await openTierIdentity(config);
  if (identity === undefined) return undefined;
  const { edgeId, tierListen } = config;
  const listen = tierListen === 'off' ? undefined : { listen: tierListen, sockets: sockets.tier };
  return { edgeId, source, identity, listen };
}

function liveOptions({ config, name }: PartContext, source: SiteReader) {
  if (!config.roles.includes('live')) return undefined;
  return { socketPath: liveSocketPath(config.dataDir), worker: name, source };
}

function httpsOptions(
  { config: { edgeHttpsListen, dataDir }, sockets }: PartContext,
  source: SiteReader,
): HttpsOptions | undefined {
  if (edgeHttpsListen === 'off') return undefined;
  const kept = readTicketSecrets(ticketSecretsPath(dataDir));
  // At the very first start the feed's process may not have created any yet; it sends them later.
  const ticketSecrets = kept.length > 0 ? kept : [makeTicketSecret(systemClock())];
  return { listen: edgeHttpsListen, sockets: sockets.https, certificates: source, ticketSecrets };
}
