/** Stage 7: decides what to do from the stored responses of a key, the request and the time. Pure. */
import { type Decision, decide } from '#http/decide.ts';
import type { CacheOptions } from '#http/options.ts';
import type { RequestFacts } from '#http/stored.ts';
import { selectVariant, taggedVariants } from '#http/variants.ts';
import type { CachedResponse, CacheEntry } from '../store/store.ts';

export interface EdgeDecision {
  readonly decision: Decision<CachedResponse>;
  /** Variants that do not match, but whose entity tags may be offered to the origin. */
  readonly others: readonly CachedResponse[];
}

/** Has a stale response validated before it is used, also where it could be served meanwhile. */
export function withoutStale({ decision, others }: EdgeDecision): EdgeDecision {
  return decision.kind === 'stale'
    ? { decision: { kind: 'revalidate', stored: decision.stored }, others }
    : { decision, others };
}

/** Largest difference between the clocks of two processes read at the same time. */
export const CLOCK_TOLERANCE_MS = 1_000;

/**
 * Treats responses requested at or before `absentUpTo` as absent, even if they are still stored. The same holds for
 * responses requested in the future: the clock was set back, so neither their age nor whether a later purge applies can
 * be known.
 */
export function decideRequest(
  entry: CacheEntry | undefined,
  absentUpTo: number,
  request: RequestFacts,
  now: number,
  options: CacheOptions,
): EdgeDecision {
  const present = (entry?.variants ?? []).filter(({ requestAt }) => {
    return requestAt > absentUpTo && requestAt <= now + CLOCK_TOLERANCE_MS;
  });
  const stored = selectVariant(present, request, options);
  const others = stored === undefined ? taggedVariants(present) : [];
  return { decision: decide(request, stored, now, options), others };
}
