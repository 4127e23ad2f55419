/** The edge's listener, and the parts that a worker's requests share. */
import type { Registry } from 'prom-client';
import { type ListenOptions, listen } from '#lib/listen.ts';
import type { AccessLog } from '#logs/spool.ts';
import type { ChallengeSource } from '#sites/challenge.ts';
import { type BufferDisk, createBuffers } from './buffers/buffers.ts';
import { ClientRates, type RateCounts } from './client-rates.ts';
import type { EdgeContext } from './context.ts';
import { createEnding, type Ending } from './ending.ts';
import { createFlights } from './fetch/collapse.ts';
import { createRefreshes } from './fetch/refresh.ts';
import { createSliceFlights } from './fetch/slices/flights.ts';
import { createWebSockets } from './fetch/web-sockets.ts';
import { DEFAULT_LIMITS, type EdgeLimits } from './limits.ts';
import { createLive, type LiveOptions } from './live/live.ts';
import { createEdgeMetrics } from './metrics.ts';
import { createEdgeOrigins, type EdgeOrigins, type EdgeOriginsOptions } from './origin/open.ts';
import { Tiers, type TiersOptions } from './origin/parents/tiers.ts';
import { type CdnName, cdnIdOf } from './origin-headers.ts';
import { createExplain, type Explain } from './pipeline/explain.ts';
import { createPrefetch, type Prefetch } from './pipeline/prefetch.ts';
import { createCompressions } from './respond/compressions.ts';
import { createPins } from './respond/pins.ts';
import { createShortcuts } from './shortcuts/shortcuts.ts';
import type { HealthPage } from './stages/health.ts';
import { createLagBudget } from './store/client-lag.ts';
import type { CacheStore } from './store/store.ts';
import { createHttpsServer, type Https, type HttpsOptions } from './transport/https.ts';
import { createHttpServer } from './transport/node-http/http-server.ts';
import { createConnections } from './transport/node-http/request-turns.ts';
import { createTierServer } from './transport/node-http/tier-server.ts';
import { createProxies, type ProxiesOptions } from './transport/proxies.ts';
import type { ServerParts } from './transport/server-parts.ts';

/** The place of the edge among the tiers. */
export interface TierOptions extends TiersOptions {
  /** Listener for edges that fetch through this one; absent: there is none. */
  readonly listen?: Pick<ListenOptions, 'listen' | 'sockets'> | undefined;
}

export interface EdgeOptions extends ListenOptions, Omit<EdgeOriginsOptions, 'tiers'> {
  /** Not closed with the edge. */
  readonly store: CacheStore;
  /** What clients may leave untaken while bodies are stored, and again what they may keep of bodies that have left the store. */
  readonly maxLagBytes: number;
  /** Memory for prepared answers out of the store; may change over time. */
  readonly maxShortcutBytes: () => number;
  /** Disk space for buffered bodies; absent: memory alone. */
  readonly bufferDisk?: BufferDisk | undefined;
  readonly accessLog: Pick<AccessLog, 'write' | 'writeHit' | 'countOrigin'>;
  /** Registry for the edge's metrics. */
  readonly registry: Registry;
  readonly limits?: Partial<EdgeLimits>;
  /** Absent: plain HTTP alone. */
  readonly https?: HttpsOptions | undefined;
  /** Answers for challenges of certificate authorities; absent: there are none. */
  readonly challenges?: ChallengeSource;
  /** Absent: no client gets the page of the edge's health. */
  readonly health?: HealthPage;
  /** Absent: paths of live domains are ordinary. */
  readonly live?: LiveOptions | undefined;
  /** Absent: the name of an installation without a fleet's id. */
  readonly cdn?: CdnName;
  /** Absent: the edge fetches from origins alone. */
  readonly tier?: TierOptions | undefined;
  /** How this worker counts with the others of its machine; absent: it is the only one. */
  readonly rates?: RateSharing;
  /** Nobody is trusted when absent. */
  readonly proxies?: Pick<ProxiesOptions, 'trusted' | 'protocol'>;
}

/** See `ClientRatesOptions`. */
export interface RateSharing {
  readonly seed: string;
  readonly workers: number;
  readonly tell: (counts: RateCounts) => void;
}

export interface Edge extends Ending, AsyncDisposable {
  readonly port: number;
  readonly https: Https | undefined;
  readonly prefetch: Prefetch;
  readonly takeOriginUses: EdgeOrigins['takeUses'];
  readonly applyOriginProbes: EdgeOrigins['applyProbes'];
  readonly explain: Explain;
  /** Adds what another worker has counted for rate limits. */
  readonly applyRates: (counts: RateCounts) => void;
  readonly tierPort: number | undefined;
  /** Must be called when settings have changed: cuts viewers of live streams and edges that are no longer allowed. */
  readonly recheck: () => void;
  /** Viewers' requests that are being served. */
  readonly underWay: number;
  /** Requests, and bytes sent, since the start; probes of the health page are not counted. */
  counts(): { readonly requests: number; readonly sentBytes: number };
}

const NO_HEALTH_PAGE: HealthPage = { isFor: () => false, state: () => ({ isReady: false, word: '' }) };

const ALONE: RateSharing = { seed: '', workers: 1, tell: () => undefined };

export async function startEdge(options: EdgeOptions): Promise<Edge> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const phase = { isDraining: false, isClosing: false };
  const ports: { http: number; https?: number } = { http: 0 };
  const { edge, origins } = createContext(options, limits, {
    isDraining: () => phase.isDraining,
    isClosing: () => phase.isClosing,
    ports,
  });
  const connections = createConnections(limits);
  const proxies = createProxies({
    ...(options.proxies ?? { trusted: [], protocol: 'off' }),
    headerMs: limits.proxyHeaderMs,
    onFailure: edge.metrics.countProxyHeaderFailure,
  });
  const parts = { edge, limits, connections, proxies, registry: options.registry };
  const http = createHttpServer(parts);
  const https = options.https && { ...options.https, ...createHttpsServer(options.https, parts, http) };
  const plain = await listen(http.server, { ...options, allowHalfOpen: true });
  const secure =
    https &&
    (await listen(https.server, { ...options, listen: https.listen, sockets: https.sockets, allowHalfOpen: false }));
  const tier = await openTier(options, parts);
  ports.http = plain.port;
  if (secure !== undefined) ports.https = secure.port;
  const servers = [...plain.servers, ...(secure?.servers ?? []), ...(tier?.servers ?? [])];
  const ending = createEnding({
    ...{ servers, phase, connections, proxies, http, https, tier, origins },
    ...{ live: edge.live, webSockets: edge.webSockets },
  });
  return {
    port: ports.http,
    https: https && { ...https.certificates, port: ports.https ?? 0 },
    prefetch: createPrefetch(edge),
    takeOriginUses: origins.takeUses,
    applyOriginProbes: origins.applyProbes,
    explain: createExplain(edge, {
      whyNoHandshake: https === undefined ? () => 'noListener' : https.whyNoHandshake,
      trustsProxies: (options.proxies?.trusted.length ?? 0) > 0,
      statesOf: origins.statesOf,
    }),
    applyRates: (counts) => edge.rates.apply(counts),
    tierPort: tier?.port,
    recheck: () => {
      edge.live?.recheck();
      edge.tiers?.reread();
      tier?.recheck();
    },
    get underWay() {
      return connections.served;
    },
    counts: edge.metrics.counts,
    ...ending,
    [Symbol.asyncDispose]: () => ending.close(0),
  };
}

async function openTier({ tier, ...options }: EdgeOptions, parts: ServerParts) {
  const { tiers } = parts.edge;
  if (tier?.listen === undefined || tiers === undefined) return undefined;
  const created = createTierServer(parts, tiers);
  const opened = await listen(created.server, { ...options, sockets: undefined, ...tier.listen, allowHalfOpen: false });
  return { ...created, ...opened };
}

function createContext(
  options: EdgeOptions,
  limits: EdgeLimits,
  { isDraining, isClosing, ports }: Pick<EdgeContext, 'isDraining' | 'isClosing' | 'ports'>,
) {
  const { sites, store, clock, log, registry, accessLog } = options;
  const webSockets = createWebSockets(limits.maxWebSockets, {
    idleMs: limits.webSocketIdleMs,
    stallMs: limits.clientIdleMs,
    endedMs: limits.webSocketEndedMs,
    checkMs: limits.webSocketCheckMs,
  });
  const rates = new ClientRates({ ...(options.rates ?? ALONE), clock });
  const metrics = createEdgeMetrics(registry, store, webSockets, rates);
  const tiers = options.tier && new Tiers(options.tier);
  const origins = createEdgeOrigins({ ...options, tiers }, limits, metrics);
  const lag = createLagBudget(options.maxLagBytes);
  const edge: EdgeContext = {
    cdn: options.cdn ?? { id: cdnIdOf(undefined) },
    sites,
    challenges: options.challenges ?? { getChallenge: () => undefined },
    health: options.health ?? NO_HEALTH_PAGE,
    store,
    shortcuts: createShortcuts({ sites, store, rates, maxBytes: options.maxShortcutBytes }),
    rates,
    origins,
    refreshes: createRefreshes(),
    flights: createFlights(),
    slices: createSliceFlights(),
    compressions: createCompressions({ store, lag, metrics, log }),
    writeLog: (domainId, record) => accessLog.write(domainId, record),
    writeHit: (hit) => accessLog.writeHit(hit),
    metrics,
    clock,
    log,
    isDraining,
    isClosing,
    ports,
    lag,
    pins: createPins({
      maxBytes: options.maxLagBytes,
      maxReaderBytes: limits.maxReaderBytes,
      isCounted: store.isCounted ?? (() => true),
    }),
    buffers: createBuffers({
      maxMemoryBytes: limits.maxBufferMemoryBytes,
      maxFiles: limits.maxBufferFiles,
      maxAnswerBytes: limits.maxBufferedAnswerBytes,
      disk: options.bufferDisk,
      log,
      registry,
    }),
    webSockets,
    tiers,
    live: options.live && createLive(options.live, { clock, log, registry }),
    clientIdleMs: limits.clientIdleMs,
    unreadFetchMs: limits.unreadFetchMs,
  };
  return { edge, origins };
}
