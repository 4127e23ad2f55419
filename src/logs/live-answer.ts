/** What an edge answers to the question of its traffic in the last minutes. Pure. docs/decisions/0706 */
import { isCount } from '#lib/is-count.ts';
import type { Counters } from './counters.ts';
import { RECENT_STEPS, type RecentSums } from './recent-counts.ts';

/** Far above what ends in ten seconds. */
const MAX_COUNTED = 2 ** 48;

/** The counters that travel, in this order. */
const LIVE_COUNTERS = ['requests', 'hits', 'bytesOut', 'status4xx', 'status5xx'] as const;
export type LiveSums = Readonly<Pick<Counters, (typeof LIVE_COUNTERS)[number]>>;

export const NO_LIVE_SUMS: LiveSums = { requests: 0, hits: 0, bytesOut: 0, status4xx: 0, status5xx: 0 };

export interface RecentLive {
  /** See `RecentSums`. */
  readonly since: number;
  readonly sums: readonly LiveSums[];
}

export function writeLiveAnswer({ since, sums }: RecentSums): object {
  return { since, steps: sums.map((one) => LIVE_COUNTERS.map((name) => one[name])) };
}

/** `undefined`: it is not such an answer, or the edge could not keep everything. */
export function readLiveAnswer(content: unknown): RecentLive | undefined {
  const { since, steps } = Object(content);
  if (!isCount(since) || !Array.isArray(steps) || steps.length !== RECENT_STEPS) return undefined;
  const sums = steps.flatMap((step: unknown) => readStep(step) ?? []);
  return sums.length === steps.length ? { since, sums } : undefined;
}

function readStep(step: unknown): LiveSums | undefined {
  if (!Array.isArray(step) || step.length !== LIVE_COUNTERS.length) return undefined;
  if (!step.every((count) => isCount(count, MAX_COUNTED))) return undefined;
  const [requests = 0, hits = 0, bytesOut = 0, status4xx = 0, status5xx = 0] = step;
  return { requests, hits, bytesOut, status4xx, status5xx };
}

export function addLiveSums(a: LiveSums, b: LiveSums): LiveSums {
  return {
    requests: a.requests + b.requests,
    hits: a.hits + b.hits,
    bytesOut: a.bytesOut + b.bytesOut,
    status4xx: a.status4xx + b.status4xx,
    status5xx: a.status5xx + b.status5xx,
  };
}
