/** Stage 4: builds the cache key. The method is never part of it. Pure. */
import type { KeyTarget } from '#http/target.ts';
import type { Site } from '#sites/site.ts';

export interface KeyedRequest extends KeyTarget {
  readonly scheme: 'http' | 'https';
  readonly host: string;
}

/**
 * Uses the site's id, not its name, as a name can move to another account. The scheme is part of the key only if the
 * origin is asked with the client's scheme, as only then its answers may differ by it. The query is left out if the
 * site ignores it. Edge rules, decision 6
 */
export function cacheKey(site: Site, request: KeyedRequest): string {
  const { host } = request;
  const scheme = site.origins.protocol === 'follow' ? request.scheme : '';
  // The mark separates these entries: if the site stops ignoring queries, an answer to some query must not be served as
  // the object without a query.
  const mark = site.ignoresQuery ? '*' : '';
  return `${site.id} ${scheme}${mark} ${host} ${keyTarget(site, request)}`;
}

/** The part of a request's path and query that identifies an object, in cache keys and in purges. Edge rule 3 */
export function keyTarget({ ignoresQuery }: Site, { keyPath, query }: KeyTarget): string {
  return ignoresQuery ? keyPath : keyPath + query;
}
