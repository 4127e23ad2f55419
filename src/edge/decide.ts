/** Stage 7: what the stored responses of a key, the request and the time say to do. Pure. */
import { type Decision, decide } from '#http/decide.ts';
import type { CacheOptions } from '#http/options.ts';
import type { RequestFacts } from '#http/stored.ts';
import { selectVariant, taggedVariants } from '#http/variants.ts';
import type { CachedResponse, CacheEntry } from './store/store.ts';

export interface EdgeDecision {
  readonly decision: Decision<CachedResponse>;
  /** Variants that do not match but whose tags may be offered when the origin is asked. */
  readonly others: readonly CachedResponse[];
}

/** What was requested at or before `absentUpTo` counts as absent, also where it is still stored. */
export function decideRequest(
  entry: CacheEntry | undefined,
  absentUpTo: number,
  request: RequestFacts,
  now: number,
  options: CacheOptions,
): EdgeDecision {
  const present = (entry?.variants ?? []).filter(({ requestAt }) => requestAt > absentUpTo);
  const stored = selectVariant(present, request, options);
  const others = stored === undefined ? taggedVariants(present) : [];
  return { decision: decide(request, stored, now, options), others };
}
