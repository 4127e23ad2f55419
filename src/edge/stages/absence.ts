/**
 * Computes the instant up to which stored responses count as absent: from purges, invalidations and the maximum age.
 */
import { purgedAt } from '#sites/purge.ts';
import type { Site } from '#sites/site.ts';
import type { SiteTable } from '#sites/table.ts';
import type { EdgeRequest } from '../request.ts';
import type { CacheEntry } from '../store/store.ts';
import { keyTarget } from './cache-key.ts';

/** Purges are forgotten after 31 days, so nothing may be older than that. docs/decisions/0081 */
export const MAX_OBJECT_AGE_MS = 30 * 24 * 3600 * 1000;

/** The site and request that a key is looked up for. */
export interface KeyOwner {
  readonly site: Site;
  readonly request: Pick<EdgeRequest, 'host' | 'keyPath' | 'query'>;
}

/**
 * Returns the instant up to which responses count as absent, compared with the time of their request to the origin.
 * `entry`: the entry found under the key, for its invalidation by an unsafe method. For one key the result never falls
 * as time passes, except where merging drops purges of a site.
 */
export function absentUpTo(
  sites: SiteTable,
  { site, request }: KeyOwner,
  entry: Pick<CacheEntry, 'invalidatedAt'> | undefined,
  now: number,
): number {
  // Look the site up again: purges may have arrived since the request began.
  const found = sites.find(request.host);
  const latest = found?.id === site.id ? found : site;
  const purged = purgedAt(latest, request.host, keyTarget(latest, request));
  const since = Number.NEGATIVE_INFINITY;
  return Math.max(now - MAX_OBJECT_AGE_MS, entry?.invalidatedAt ?? since, purged ?? since);
}
