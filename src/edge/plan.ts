/** Stage 5: does the cache take part, and by which rules? Pure. Policies of the site will decide here. */
import { decide } from '#http/decide.ts';
import { type CacheOptions, DEFAULT_CACHE_OPTIONS } from '#http/options.ts';
import { hasDotSegments } from '#http/target.ts';
import type { Site } from '#sites/site.ts';
import type { Bypass } from './reasons.ts';
import type { EdgeRequest } from './request.ts';

export type Plan =
  | { readonly kind: 'bypass'; readonly reason: Bypass; readonly options: CacheOptions }
  | { readonly kind: 'cache'; readonly options: CacheOptions };

export function planRequest(site: Site, request: EdgeRequest): Plan {
  const options = cacheOptions(site);
  if (request.upgrade !== undefined) return { kind: 'bypass', reason: request.upgrade, options };
  // What the request alone decides, before anything is looked up.
  const early = decide(request.facts, undefined, 0, options);
  if (early.kind === 'bypass') return { kind: 'bypass', reason: early.reason, options };
  // The original target goes to the origin: one that does not resolve dots would fill another path's key.
  if (hasDotSegments(request.target)) return { kind: 'bypass', reason: 'dotSegments', options };
  return { kind: 'cache', options };
}

/** The site's own choices. Playlists and dynamic pages are never guessed about. Edge rule 4 */
function cacheOptions({ type, cache }: Site): CacheOptions {
  const isGuessed = type !== 'live' && type !== 'dynamic';
  return {
    ...DEFAULT_CACHE_OPTIONS,
    setCookie: cache.setCookie,
    requestDirectives: cache.requestDirectives,
    heuristicCapSeconds: isGuessed ? cache.heuristicCapSeconds : 0,
    staleCapSeconds: cache.staleCapSeconds,
    ignoreLanguageOrder: cache.normalizeVary,
    selectStoredLanguage: cache.matchLanguage,
  };
}
