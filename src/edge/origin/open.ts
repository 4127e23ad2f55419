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
import {
  type Connect,
  type ConnectorOptions,
  createConnector,
  foreseeFailure,
  type VerifyOrigins,
} from './connector.ts';
import { createOrigins, type Origins, type OriginsOptions } from './fetch.ts';
import { createFollowingOrigins } from './follow-redirects.ts';
import type { Guard } from './guard.ts';
import { createOriginHealth } from './health.ts';
import { createOriginUses } from './origin-use.ts';
import type { ConnectionParts } from './own/connection.ts';
import { createParentConnector } from './parents/parent-connector.ts';
import { createParentHealth } from './parents/parent-health.ts';
import { createTieredOrigins, type TieredOrigins } from './parents/tiered-origins.ts';
import type { Tiers } from './parents/tiers.ts';
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
  /** Absent: origins alone are asked. */
  readonly tiers?: Tiers | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface OriginState {
  /** `host:port` */
  readonly origin: string;
  /** State of the origin. If it is `originForbidden` or `originDns`, a request to the origin fails for that reason. */
  readonly state: 'usable' | 'down' | Extract<OriginFailure, 'originForbidden' | 'originDns'>;
}

export interface EdgeOrigins extends TieredOrigins {
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
  const pools = createPools(createConnector(ownWay), parts, limits, {
    maxPools: MAX_POOLS,
    maxConnections: limits.maxOriginConnections,
  });
  const elsewhere = createPools(createConnector(elsewhereWay), parts, limits, {
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
  const tiered = options.tiers && openTiers(options, options.tiers, { limits, metrics, parts, readTurns }, following);
  return {
    fetch: tiered?.origins.fetch ?? following.fetch,
    usesParents: tiered?.origins.usesParents ?? (() => false),
    parentsOf: tiered?.origins.parentsOf ?? (() => []),
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
    close: async () => void (await Promise.all([pools.close(), elsewhere.close(), tiered?.close()])),
  };
}

/** Time that a parent gets beyond that of its origins. */
const PARENT_EXTRA_MS = 2_000;

function openTiers(
  { clock, log }: EdgeOriginsOptions,
  tiers: Tiers,
  {
    limits,
    metrics,
    parts,
    readTurns,
  }: {
    readonly limits: EdgeLimits;
    readonly metrics: EdgeMetrics;
    readonly parts: ConnectionParts;
    readonly readTurns: OriginsOptions['readTurns'];
  },
  origins: Origins,
): { readonly origins: TieredOrigins; close(): Promise<void> } {
  const firstByteMs = limits.firstByteMs + PARENT_EXTRA_MS;
  const pools = createPools(
    createParentConnector(tiers, limits.parentConnectMs),
    { ...parts, limits: { ...parts.limits, firstByteMs } },
    { ...limits, firstByteMs },
    { maxPools: MAX_ELSEWHERE_POOLS, maxConnections: limits.maxOriginConnections },
  );
  const report = limitReports(clock);
  const tiered = createTieredOrigins({
    tiers,
    origins,
    pools,
    clock,
    readTurns,
    health: createParentHealth(),
    firstByteTimeoutMs: firstByteMs,
    countBytes: (_, bytes) => metrics.countParentBytes(bytes),
    countLatency: () => undefined,
    onFetched: metrics.countTierFetch,
    onFailure: (parent, detail) => {
      metrics.countTierFailure();
      if (report(parent)) log.warn({ parent, detail }, 'parent failed');
    },
  });
  return { origins: tiered, close: pools.close };
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
  connect: Connect,
  own: ConnectionParts,
  limits: EdgeLimits,
  bounds: Pick<OriginPoolsOptions, 'maxPools' | 'maxConnections'>,
): OriginPools {
  return createOriginPools({
    ...bounds,
    connect,
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
  const report = limitReports(clock);
  return (failure, origin, detail) => {
    metrics.countOriginFailure(failure);
    if (report(`${failure} ${origin}`)) log.warn({ failure, origin, detail }, 'origin failed');
  };
}

/** Returns a function that says whether something is to be logged: once per `REPORT_MS` and key. */
function limitReports(clock: Clock): (key: string) => boolean {
  const reportedAt = new Lru<string, number>({ maxWeight: MAX_REPORTED });
  return (key) => {
    const now = clock();
    if (Math.abs(now - (reportedAt.get(key) ?? Number.NEGATIVE_INFINITY)) < REPORT_MS) return false;
    reportedAt.set(key, now);
    return true;
  };
}
