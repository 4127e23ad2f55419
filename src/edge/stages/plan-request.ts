/** Stage 5: decides whether the cache is used for a request, and with which options. Pure. */
import { decide } from '#http/decide.ts';
import type { CacheOptions } from '#http/options.ts';
import { hasDotSegments, pathAtOrigin } from '#http/target.ts';
import { DEFAULT_CACHE_OPTIONS } from '#sites/cache-options.ts';
import type { PolicyTarget } from '#sites/policy.ts';
import type { Site } from '#sites/site.ts';
import type { Bypass } from '../reasons.ts';
import type { EdgeRequest } from '../request.ts';

export type Plan =
  | { readonly kind: 'bypass'; readonly reason: Bypass; readonly options: CacheOptions }
  | { readonly kind: 'cache'; readonly options: CacheOptions }
  /** The client accepts only a stored answer, but the cache is not used: 504. RFC 9111 §5.2.1.7 */
  | { readonly kind: 'gatewayTimeout'; readonly options: CacheOptions };

export function planRequest(site: Site, request: EdgeRequest): Plan {
  const lifetimeSeconds = site.caching.policies?.lifetimeFor(policyTarget(site, request));
  const options = cacheOptions(site, lifetimeSeconds);
  if (request.upgrade !== undefined) return { kind: 'bypass', reason: request.upgrade, options };
  // Bypasses that follow from the request alone.
  const early = decide(request.facts, undefined, 0, options);
  if (early.kind === 'bypass') return { kind: 'bypass', reason: early.reason, options };
  const reason = reasonPast(site, request, lifetimeSeconds);
  if (reason === undefined) return { kind: 'cache', options };
  return early.kind === 'gatewayTimeout' ? { kind: 'gatewayTimeout', options } : { kind: 'bypass', reason, options };
}

/** The reason to bypass the cache, though the request alone would allow its use; `undefined` if there is none. */
function reasonPast(site: Site, request: EdgeRequest, lifetimeSeconds: number | undefined): Bypass | undefined {
  // The origin receives the original target. If it does not resolve dot segments, its answer belongs to another path
  // than the key's.
  if (hasDotSegments(request.target)) return 'dotSegments';
  return reasonOf(site, lifetimeSeconds);
}

function reasonOf({ caching }: Site, lifetimeSeconds: number | undefined): Bypass | undefined {
  if (lifetimeSeconds === undefined) return caching.followsOrigin ? undefined : 'noPolicy';
  return lifetimeSeconds === 0 ? 'policy' : undefined;
}

/**
 * The request that cache policies are matched against. Its path is the one that an origin may read instead, if that one
 * must not be stored. docs/decisions/0166
 */
export function policyTarget(site: Site, request: PolicyTarget): PolicyTarget {
  const { policies } = site.caching;
  const keyPath = policies && pathAtOrigin(request.keyPath);
  if (keyPath === undefined) return request;
  const { scheme, host, query } = request;
  const atOrigin = { scheme, host, keyPath, query };
  return reasonOf(site, policies?.lifetimeFor(atOrigin)) === undefined ? request : atOrigin;
}

/**
 * The site's cache options, with the lifetime of the deciding policy, if any. Live and dynamic sites have no heuristic
 * freshness. Edge rule 4
 */
function cacheOptions({ type, cache, caching }: Site, lifetimeSeconds: number | undefined): CacheOptions {
  const isGuessed = type !== 'live' && type !== 'dynamic';
  const hasPolicies = caching.policies !== undefined;
  return {
    ...cache,
    heuristicCapSeconds: isGuessed ? cache.heuristicCapSeconds : 0,
    maxVariants: DEFAULT_CACHE_OPTIONS.maxVariants,
    defaultLifetimes: hasPolicies ? ABSENCES : NONE,
    hasPolicies,
    policy: lifetimeSeconds === undefined ? undefined : { seconds: lifetimeSeconds, overrides: !caching.followsOrigin },
  };
}

/**
 * Default lifetimes in seconds, by status, for sites with cache policies. A short lifetime keeps requests for a
 * missing object from all reaching the origin. Edge rule 4
 */
const ABSENCES: ReadonlyMap<number, number> = new Map([404, 410].map((status) => [status, 10]));
const NONE: ReadonlyMap<number, number> = new Map();
