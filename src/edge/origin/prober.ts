/**
 * Probes the origins that this machine's workers use, once per machine, regardless of the number of workers.
 * docs/decisions/0132
 */
import type { Registry } from 'prom-client';
import type { Logger } from '#lib/logger.ts';
import { metricsOf } from '#lib/metrics.ts';
import { TokenBuckets } from '#lib/token-bucket.ts';
import type { CdnName } from '../origin-headers.ts';
import { createConnector, type VerifyOrigins } from './connector.ts';
import type { Guard } from './guard.ts';
import { PROBE_TIMEOUT_MS, probeOrigin } from './probe.ts';
import {
  createProbeSchedule,
  type OriginTrouble,
  type OriginUse,
  type ProbeReport,
  type ProbeTarget,
} from './probe-schedule.ts';
import { createResolver, type Resolve } from './resolve.ts';

export interface ProberOptions {
  readonly cdn: CdnName;
  readonly guard: Guard;
  /** Resolver; the machine's hosts file and name servers if absent. */
  readonly resolve?: Resolve;
  /** Whose certificates are verified. */
  readonly verify?: VerifyOrigins;
  /** Milliseconds that never step back. */
  readonly monotonic: () => number;
  readonly random: () => number;
  /** Called with changes, and repeatedly while an origin is down. */
  readonly onReport: (report: ProbeReport) => void;
  readonly registry: Registry;
  readonly log: Logger;
}

export interface Prober extends Disposable {
  note(uses: readonly OriginUse[]): void;
  /** See `ProbeSchedule.listTroubles`. */
  listTroubles(max: number): readonly OriginTrouble[];
}

const TICK_MS = 100;
/** 200 probes per second. */
const MAX_PER_TICK = 20;
/**
 * Limit of probes in flight. Each holds a socket, for up to 10 s if nothing answers; probes that are due meanwhile
 * wait.
 */
const MAX_UNDER_WAY = 500;
/** Rate limit of log lines about origins that go down or up, which they may do at any rate. */
const LINES = { perSecond: 1, burst: 60 };

export function startProber(options: ProberOptions): Prober {
  const { guard, verify, monotonic, onReport, registry, log } = options;
  const resolve = options.resolve ?? createResolver({ monotonic });
  const connect = createConnector({ guard, resolve, verify, timeoutMs: PROBE_TIMEOUT_MS });
  const schedule = createProbeSchedule(options.random);
  const lines = new TokenBuckets({ ...LINES, maxKeys: 1 });
  const countProbe = addMetrics(registry, schedule);
  let underWay = 0;

  const probe = async (target: ProbeTarget) => {
    underWay++;
    const outcome = await probeOrigin(target, connect, options.cdn);
    underWay--;
    countProbe({ kind: target.request === undefined ? 'connect' : 'request', outcome });
    const now = monotonic();
    const change = schedule.settle(target.key, outcome, now);
    if (change === undefined || lines.take('', now).kind === 'empty') return;
    log[change === 'up' ? 'info' : 'warn']({ origin: target.key, change }, CHANGES[change]);
  };
  const timer = setInterval(() => {
    const now = monotonic();
    const max = Math.min(MAX_PER_TICK, MAX_UNDER_WAY - underWay);
    for (const target of schedule.take(now, max)) void probe(target); // never rejects
    const report = schedule.takeReport(now);
    if (report !== undefined) onReport(report);
  }, TICK_MS);

  return {
    note: (uses) => {
      for (const use of uses) schedule.note(use, monotonic());
    },
    listTroubles: schedule.listTroubles,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

const CHANGES = {
  up: 'origin is up, as probes say',
  down: 'origin is down, as probes say',
  forbidden: 'origin has no address that this edge connects to: open its network with origin-allow if it is yours',
};

function addMetrics(registry: Registry, schedule: { readonly size: number; readonly downCount: number }) {
  const { counter, gauge } = metricsOf(registry);
  gauge('causeway_origins_probed', 'Origins in use on this machine that health checks cover', () => schedule.size);
  gauge('causeway_origins_down', 'Origins on this machine whose health checks fail', () => schedule.downCount);
  const probes = counter(
    'causeway_origin_probes_total',
    'Health checks of origins (connections and monitor URL requests), by outcome',
    ['kind', 'outcome'],
  );
  return (labels: { kind: 'connect' | 'request'; outcome: string }) => probes.inc(labels);
}
