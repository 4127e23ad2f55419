/** Stage 7: what the stored responses of a key, the request and the time say to do. Pure. */
import { type Decision, decide } from '#http/decide.ts';
import type { CacheOptions } from '#http/options.ts';
import type { RequestFacts } from '#http/stored.ts';
import { selectVariant, taggedVariants } from '#http/variants.ts';
import type { CachedResponse, CacheEntry } from '../store/store.ts';

export interface EdgeDecision {
  readonly decision: Decision<CachedResponse>;
  /** Variants that do not match but whose tags may be offered when the origin is asked. */
  readonly others: readonly CachedResponse[];
}

/** How far the clocks of two processes may differ when read at the same time. */
export const CLOCK_TOLERANCE_MS = 1_000;

/**
 * What was requested at or before `absentUpTo` counts as absent, also where it is still stored. So does what was requested in the
 * future: the clock has been set back since, and how old it is, or whether a purge came after it, cannot be told.
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
