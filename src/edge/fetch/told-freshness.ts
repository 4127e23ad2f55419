/**
 * What an answer of a parent says of its lifetime counts instead of the site's caching policy: a policy that was applied
 * again would begin a new lifetime in each tier. Pure. docs/decisions/0731
 */
import type { CacheOptions } from '#http/options.ts';
import type { Stored } from '#http/stored.ts';
import type { TierFresh } from '../tier-fields.ts';

/** Returns the options by which a response is judged: the site's, or those that a parent's answer asks for. */
export function optionsFor(status: number, told: TierFresh | undefined, site: CacheOptions): CacheOptions {
  if (told === undefined) return site;
  return {
    ...site,
    heuristicCapSeconds: 0,
    hasPolicies: false,
    defaultLifetimes: new Map([[status, told.freshMs / 1000]]),
    policy: told.freshMs > 0 ? { seconds: told.freshMs / 1000, overrides: true } : undefined,
  };
}

/** Gives the response the rest of the lifetime that it has at the parent. */
export function withToldLifetime<S extends Stored>(stored: S, told: TierFresh | undefined): S {
  return told === undefined ? stored : { ...stored, lifetimeMs: stored.initialAgeMs + told.freshMs };
}
