/** Stage 4: what makes two requests the same object. Pure. The method is never part of it. */
import type { KeyTarget } from '#http/target.ts';
import type { Site } from '#sites/site.ts';

export interface KeyedRequest extends KeyTarget {
  readonly scheme: 'http' | 'https';
  readonly host: string;
}

/**
 * The site's number, never its name: a name can pass to another account. The scheme counts only where the origin is asked
 * with the client's, since only then may it answer differently. Edge rules, decision 6
 */
export function cacheKey(site: Site, { scheme, host, keyPath, query }: KeyedRequest): string {
  return `${site.id} ${site.origins.protocol === 'follow' ? scheme : ''} ${host} ${keyPath}${query}`;
}
