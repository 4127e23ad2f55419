/** The instant after which stored responses count: purges, invalidations, and the age beyond which nothing is kept. */
import { purgedAt } from '#sites/purge.ts';
import type { Site } from '#sites/site.ts';
import type { SiteTable } from '#sites/table.ts';
import type { EdgeRequest } from '../request.ts';
import type { CacheEntry } from '../store/store.ts';
import { keyTarget } from './cache-key.ts';

/** Purges are forgotten after 31 days, so nothing may be older than that. docs/decisions/0081 */
export const MAX_OBJECT_AGE_MS = 30 * 24 * 3600 * 1000;

/** What a key is looked up for. */
export interface KeyOwner {
  readonly site: Site;
  readonly request: Pick<EdgeRequest, 'host' | 'keyPath' | 'query'>;
}

/**
 * What was requested from an origin at or before this instant is absent. `entry`: what was found under the key, with its
 * invalidation by an unsafe method. Never falls for one key while time goes on, but by what a site's purges lose to merging.
 */
export function absentUpTo(
  sites: SiteTable,
  { site, request }: KeyOwner,
  entry: Pick<CacheEntry, 'invalidatedAt'> | undefined,
  now: number,
): number {
  // The site anew: the one that a request began with does not know of a purge that came since.
  const found = sites.find(request.host);
  const latest = found?.id === site.id ? found : site;
  const purged = purgedAt(latest, request.host, keyTarget(latest, request));
  const since = Number.NEGATIVE_INFINITY;
  return Math.max(now - MAX_OBJECT_AGE_MS, entry?.invalidatedAt ?? since, purged ?? since);
}
