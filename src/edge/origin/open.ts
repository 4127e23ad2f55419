/** Assembles the parts by which a worker's requests reach origins: names, connections, health, redirects. */
import type { Scheme } from '#http/absolute-form.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { Lru } from '#lib/lru.ts';
import { createDirectWrites } from '#lib/node-internals/direct-write.ts';
import { createSharedReading, READ_BYTES } from '#lib/node-internals/shared-reading.ts';
import { RecycledBuffers } from '#lib/recycled-buffers.ts';
import { createSwept } from '#lib/swept.ts';
import type { AccessLog } from '#logs/spool.ts';
import type { Site } from '#sites/site.ts';
import type { SiteTable } from '#sites/table.ts';
import type { EdgeLimits } from '../limits.ts';
import type { EdgeMetrics } from '../metrics.ts';
import type { OriginFailure } from '../reasons.ts';
import { describeOrigins } from './choose.ts';
import { type ConnectorOptions, createConnector, foreseeFailure, type VerifyOrigins } from './connector.ts';
import { createOrigins, type Origins, type OriginsOptions } from './fetch.ts';
import { createFollowingOrigins } from './follow-redirects.ts';
import type { Guard } from './guard.ts';
import { createOriginHealth } from './health.ts';
import { createOriginUses } from './origin-use.ts';
import type { ConnectionParts } from './own/connection.ts';
import { createOriginPools, MAX_POOLS, type OriginPools, type OriginPoolsOptions } from './pools.ts';
import type { OriginUse, ProbeReport } from './probe-schedule.ts';
import { createReadTurns, READ_TURN_BYTES } from './read-turns.ts';
import { createResolver, type Resolve } from './resolve.ts';

/**
 * Limits for redirect targets, which may be any number of hosts: fewer pools and connections, apart from those of the
 * sites' origins.
 */
const MAX_ELSEWHERE_POOLS = 100;
const MAX_ELSEWHERE_CONNECTIONS = 64;
/** Minimum time between two log lines about the same failure of an origin. */
const REPORT_MS = 60_000;
const MAX_REPORTED = 1_000;

export interface EdgeOriginsOptions {
  readonly sites: SiteTable;
  readonly guard: Guard;
  /** Resolver of origins' names; the machine's hosts file and name servers if absent. */
  readonly resolve?: Resolve;
  /** Certificate authorities for origins in PEM, instead of the system's. */
  readonly originCa?: string;
  /** Whose certificates are verified. */
  readonly originVerify?: VerifyOrigins;
  /** Counts the bytes that origins send. */
  readonly accessLog: Pick<AccessLog, 'countOrigin'>;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface OriginState {
  /** `host:port` */
  readonly origin: string;
  /** State of the origin. If it is `originForbidden` or `originDns`, a request to the origin fails for that reason. */
  readonly state: 'usable' | 'down' | Extract<OriginFailure, 'originForbidden' | 'originDns'>;
}

export interface EdgeOrigins extends Origins {
  /** Returns origins that were used or passed over since the last call, for the machine's prober. */
  takeUses(): readonly OriginUse[];
  /** Applies a report of the machine's prober. */
  applyProbes(report: ProbeReport): void;
  /** Returns the known state of a site's origins, primaries first, without asking them. Looks up their names. */
  statesOf(site: Site, scheme: Scheme, host: string): Promise<readonly OriginState[]>;
  close(): Promise<void>;
}

export function createEdgeOrigins(options: EdgeOriginsOptions, limits: EdgeLimits, metrics: EdgeMetrics): EdgeOrigins {
  const { sites, clock, accessLog } = options;
  const onFailure = reportFailures(options, metrics);
  const countBytes = accessLog.countOrigin.bind(accessLog);
  const readTurns = createReadTurns(READ_TURN_BYTES, setImmediate);
  const countLatency = metrics.countOriginLatency;
  const tools = { clock, countBytes, countLatency, readTurns, firstByteTimeoutMs: limits.firstByteMs };
  // Each has its own resolver: slow name servers of redirect targets do not delay look-ups of origins.
  const [ownWay, elsewhereWay] = [connectorOptions(options, limits), connectorOptions(options, limits)];
  const parts = connectionParts(limits);
  const pools = createPools(ownWay, parts, limits, {
    maxPools: MAX_POOLS,
    maxConnections: limits.maxOriginConnections,
  });
  const elsewhere = createPools(elsewhereWay, parts, limits, {
    maxPools: MAX_ELSEWHERE_POOLS,
    maxConnections: MAX_ELSEWHERE_CONNECTIONS,
  });
  const health = createOriginHealth();
  const uses = createOriginUses();
  const own = createOrigins({ ...tools, pools, health, uses, onFailure });
  const following = createFollowingOrigins({
    origins: own,
    elsewhere: { ...tools, pools: elsewhere },
    siteOf: (host) => sites.find(host),
    onRedirect: metrics.countRedirect,
    // All targets share one log key: origins choose how many there are.
    onFailure: (failure, detail) => onFailure(failure, 'the target of a redirect', detail),
  });
  return {
    fetch: following.fetch,
    takeUses: uses.take,
    applyProbes: (report) => health.applyReport(report, clock()),
    statesOf: (site, scheme, host) =>
      Promise.all(
        Object.values(describeOrigins(site, scheme, host))
          .flat()
          .map(async (origin) => {
            const failure = await foreseeFailure(origin.destination, ownWay);
            if (failure === 'originForbidden' || failure === 'originDns') return { origin: origin.key, state: failure };
            return { origin: origin.key, state: health.isDown(origin, clock()) ? 'down' : 'usable' };
          }),
      ),
    close: async () => void (await Promise.all([pools.close(), elsewhere.close()])),
  };
}

function connectorOptions(options: EdgeOriginsOptions, limits: EdgeLimits): ConnectorOptions {
  return {
    guard: options.guard,
    resolve: options.resolve ?? createResolver({ monotonic: () => performance.now() }),
    timeoutMs: limits.connectMs,
    ca: options.originCa,
    verify: options.originVerify,
  };
}

/** Interval at which the time limits of all connections are checked. */
const SWEEP_MS = 250;

/** Limit of spare buffers for unread bytes, 4 MiB together. */
const MAX_SPARE_READS = 64;

function connectionParts(limits: EdgeLimits): ConnectionParts {
  return {
    reading: createSharedReading(),
    unread: new RecycledBuffers(READ_BYTES, MAX_SPARE_READS),
    openDirectWrite: createDirectWrites(),
    swept: createSwept(SWEEP_MS),
    limits: {
      firstByteMs: limits.firstByteMs,
      bodyIdleMs: limits.originIdleMs,
      maxAgeMs: limits.originConnectionMs,
    },
    monotonic: () => performance.now(),
  };
}

function createPools(
  connector: ConnectorOptions,
  own: ConnectionParts,
  limits: EdgeLimits,
  bounds: Pick<OriginPoolsOptions, 'maxPools' | 'maxConnections'>,
): OriginPools {
  return createOriginPools({
    ...bounds,
    connect: createConnector(connector),
    own,
    waitTimeoutMs: limits.originWaitMs,
    slowMs: limits.originSlowMs,
    firstByteTimeoutMs: limits.firstByteMs,
    idleTimeoutMs: limits.originIdleMs,
    maxAgeMs: limits.originConnectionMs,
  });
}

/** Counts every failure, but logs the same failure of an origin once per `REPORT_MS`. */
function reportFailures({ clock, log }: EdgeOriginsOptions, metrics: EdgeMetrics): OriginsOptions['onFailure'] {
  const reportedAt = new Lru<string, number>({ maxWeight: MAX_REPORTED });
  return (failure, origin, detail) => {
    metrics.countOriginFailure(failure);
    const key = `${failure} ${origin}`;
    const now = clock();
    if (Math.abs(now - (reportedAt.get(key) ?? Number.NEGATIVE_INFINITY)) < REPORT_MS) return;
    reportedAt.set(key, now);
    log.warn({ failure, origin, detail }, 'origin failed');
  };
}
