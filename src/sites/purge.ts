/**
 * Purges as the edge holds them: from when on a stored response counts as absent. What makes two requests the same object
 * decides here too: scheme and method say nothing, and a target is `host` followed by the key's path and query.
 */

/** What a purge covers: one object (all its variants), what lies below a directory, or a whole site. */
export interface PurgeScope {
  readonly kind: 'url' | 'directory' | 'site';
  /** `host/path?query`, normalized like the cache key; of a directory `host/path/`; of a site empty. */
  readonly target: string;
}

/** A purge as it travels to the edges: a resource of the kind `purge`, under the key `purgeKey`. */
export interface PurgeSpec extends PurgeScope {
  readonly siteId: number;
  /** The site's name: what a worker forgets. */
  readonly site: string;
}

/** `purgeId`: unlike any other of this site, ever. */
export function purgeKey(siteId: number, purgeId: string): string {
  return `${siteId}:${purgeId}`;
}

/** A purge that an edge has applied. */
export interface SitePurge extends PurgeScope {
  /** Instant by the clock of this edge, stamped once. */
  readonly appliedAt: number;
}

/** The compiled purges of one site. */
export interface SitePurges {
  readonly site: number;
  readonly urls: ReadonlyMap<string, number>;
  readonly directories: ReadonlyMap<string, number>;
  /** The different lengths of the directories, so that a look-up tries no more than those. */
  readonly directoryLengths: readonly number[];
}

/** Purges per site; more are merged into one for the whole site. */
export const MAX_SITE_PURGES = 1000;

/** `undefined` when there are none. `ignoresQuery`: the site's objects have no query, so a purge of one names all of them. */
export function compilePurges(purges: readonly SitePurge[], ignoresQuery = false): SitePurges | undefined {
  if (purges.length === 0) return undefined;
  const urls = new Map<string, number>();
  const directories = new Map<string, number>();
  const isBeyond = purges.length > MAX_SITE_PURGES;
  let site = Number.NEGATIVE_INFINITY;
  for (const { kind, target, appliedAt } of purges) {
    if (kind === 'site' || isBeyond) site = Math.max(site, appliedAt);
    else if (kind === 'directory') raise(directories, target, appliedAt);
    else raise(urls, ignoresQuery ? target.replace(/\?.*$/s, '') : target, appliedAt);
  }
  const directoryLengths = [...new Set([...directories.keys()].map(({ length }) => length))];
  return { site, urls, directories, directoryLengths };
}

/**
 * The latest purge that covers `host` and `pathAndQuery` (as in the cache key): what was requested from an origin at or
 * before this instant is absent. `undefined`: nothing is purged.
 */
export function purgedAt(
  { purges }: { readonly purges?: SitePurges },
  host: string,
  pathAndQuery: string,
): number | undefined {
  if (purges === undefined) return undefined;
  const target = host + pathAndQuery;
  let at = Math.max(purges.site, purges.urls.get(target) ?? Number.NEGATIVE_INFINITY);
  for (const length of purges.directoryLengths) {
    if (target[length - 1] === '/') at = Math.max(at, purges.directories.get(target.slice(0, length)) ?? at);
  }
  return at === Number.NEGATIVE_INFINITY ? undefined : at;
}

function raise(instants: Map<string, number>, target: string, at: number): void {
  instants.set(target, Math.max(at, instants.get(target) ?? at));
}
