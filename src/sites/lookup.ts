/** The site table: host → compiled site, exact name first, then the longest wildcard. Compiles what is asked for. */
import { Lru } from '#lib/lru.ts';
import { compileSite } from './compile.ts';
import { createCompileTools } from './compile-tools.ts';
import { isRequestHost } from './host-name.ts';
import { PackedAddresses } from './packed-addresses.ts';
import { compilePurges } from './purge.ts';
import type { Site } from './site.ts';
import type { SiteSpec } from './spec.ts';
import type { SiteSource, SiteTable } from './table.ts';

export interface SiteTableOptions {
  readonly source: SiteSource;
  /** Compiled sites kept, fewer when they have many purges; the hosts they were found for are bounded by `HOSTS_PER_SITE` times as many. */
  readonly maxSites: number;
}

/** Hosts under a wildcard are named by viewers, so the look-up's memory needs a bound apart from the sites'. */
const HOSTS_PER_SITE = 4;
/** Ranges of addresses in all lists that are kept. */
const MAX_LISTED = 1_000_000;
/** So many purges take about the memory of a compiled site. */
const PURGES_PER_WEIGHT = 20;
/** Hosts without a site, remembered so that a flood of them costs the source nothing. */
const MAX_UNKNOWN_HOSTS = 10_000;

/** A spec that does not compile has no site: the feed keeps the last one that did, so this is a file gone bad. */
export function createSiteTable({ source, maxSites }: SiteTableOptions): SiteTable {
  const sites = new Lru<string, Site>({ maxWeight: maxSites, weigh });
  const hosts = new Lru<string, Site>({ maxWeight: maxSites * HOSTS_PER_SITE, weigh });
  const lists = new Lru<string, PackedAddresses>({ maxWeight: MAX_LISTED, weigh: ({ ranges }) => 1 + ranges });
  const addressList = (key: string): PackedAddresses => {
    const known = lists.get(key);
    if (known !== undefined) return known;
    // A list that is not here has nobody on it: then one that a site allows lets nobody in.
    const list = new PackedAddresses(source.getAddressList(key) ?? [], tools.addressUnits);
    lists.set(key, list);
    return list;
  };
  const tools = createCompileTools({ addressList, urlKeys: source.urlKeysOf });
  const unknown = new Lru<string, true>({ maxWeight: MAX_UNKNOWN_HOSTS });
  let changes = 0;

  const load = (name: string): Site | undefined => {
    const known = sites.get(name);
    if (known !== undefined) return known;
    const found = source.getSpec(name);
    if (found === undefined) return undefined;
    const site = compile(found.spec, found.revision);
    if (site !== undefined) sites.set(name, site);
    return site;
  };

  const compile = (spec: SiteSpec, revision: number): Site | undefined => {
    const result = compileSite(spec, revision, tools);
    if (result.kind === 'invalid') return undefined;
    const purges = compilePurges(source.purgesOf(result.site.id), result.site.ignoresQuery);
    return purges === undefined ? result.site : Object.freeze({ ...result.site, purges });
  };

  const search = (host: string): Site | undefined => {
    if (!isRequestHost(host)) return undefined;
    for (const name of candidateNames(host)) {
      const site = load(name);
      if (site !== undefined) return site;
    }
    return undefined;
  };

  return {
    find: (host) => {
      const known = hosts.get(host);
      if (known !== undefined) return known;
      if (unknown.get(host) !== undefined) return undefined;
      const site = search(host);
      if (site === undefined) unknown.set(host, true);
      else hosts.set(host, site);
      return site;
    },
    compileLike: (spec, { revision }) => compile(spec, revision),
    get changes() {
      return changes;
    },
    forget: (names) => {
      if (names?.length === 0) return;
      changes += 1;
      // A name may take hosts from a wildcard or give them back, so every found host is looked up anew; the compiled
      // sites of other names stay.
      hosts.clear();
      unknown.clear();
      if (names === undefined) {
        sites.clear();
        lists.clear();
        return;
      }
      for (const name of names) sites.delete(name);
      const changed = names.filter((name) => name.includes('/'));
      if (changed.length === 0) return;
      for (const key of changed) lists.delete(key);
      for (const { name, access } of sites.values())
        if (changed.some((key) => access.deniedLists?.uses(key) || access.allowedLists?.uses(key))) sites.delete(name);
    },
  };
}

function weigh({ purges }: Site): number {
  const purged = purges === undefined ? 0 : purges.urls.size + purges.directories.size;
  return 1 + Math.floor(purged / PURGES_PER_WEIGHT);
}

/**
 * The names of the sites that may answer for a host, the first that there is does: the exact name, then wildcards from the
 * longest suffix to the shortest. A wildcard never covers its own apex.
 */
export function candidateNames(host: string): string[] {
  const names = [host];
  for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) names.push(`*${host.slice(dot)}`);
  return names;
}
