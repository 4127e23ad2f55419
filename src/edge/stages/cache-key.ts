/** Stage 4: what makes two requests the same object. Pure. The method is never part of it. */
import type { KeyTarget } from '#http/target.ts';
import type { Site } from '#sites/site.ts';

export interface KeyedRequest extends KeyTarget {
  readonly scheme: 'http' | 'https';
  readonly host: string;
}

/**
 * The site's number, never its name: a name can pass to another account. The scheme counts only where the origin is asked
 * with the client's, since only then may it answer differently; the query, unless the site leaves it out. Edge rules, decision 6
 */
export function cacheKey(site: Site, request: KeyedRequest): string {
  const { host } = request;
  const scheme = site.origins.protocol === 'follow' ? request.scheme : '';
  // Marked: what answered some query must not pass for the object without one when queries count again.
  const mark = site.ignoresQuery ? '*' : '';
  return `${site.id} ${scheme}${mark} ${host} ${keyTarget(site, request)}`;
}

/** What of a request's path and query counts, here and for purges. Edge rule 3 */
export function keyTarget({ ignoresQuery }: Site, { keyPath, query }: KeyTarget): string {
  return ignoresQuery ? keyPath : keyPath + query;
}
