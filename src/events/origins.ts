/** Origins that edges cannot reach, by the domains that they are for. */
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { Db } from '#db/open.ts';
import { findReportable } from '#db/tables/edge-groups.ts';
import { listEdges } from '#db/tables/edges.ts';
import { findSitesByOrigin } from '#db/tables/sites-by-origin.ts';
import type { Observation } from '#model/condition.ts';
import { EDGE_LIVE_MS } from '#model/edge-live.ts';
import { compileSite } from '#sites/compile.ts';
import { originKeys } from '#sites/origin-address.ts';
import type { Observer } from './observer.ts';

/** An origin in trouble, by the key of its probes, and the edges that say so. */
interface Trouble {
  readonly key: string;
  readonly state: 'down' | 'forbidden';
  readonly edges: { readonly edge: string; readonly group: string | undefined }[];
}

interface OwnedSite {
  readonly domainId: number;
  readonly accountId: number;
  readonly name: string;
  /** Keys of the probes of each of its origins, by the origin's address. */
  readonly keys: ReadonlyMap<string, ReadonlySet<string>>;
}

interface KnownSites {
  readonly readAt: number;
  readonly sites: readonly OwnedSite[];
}

/** Time for which the sites of a host are taken to be the same. */
const KNOWN_MS = 60_000;
const MAX_READ_AT_ONCE = 20;
/** Origins in trouble that are looked at: with more, the way out of the edges is broken. */
const MAX_TROUBLES = 1_000;
/** Revision of sites that are compiled for their origins alone. */
const ANY_REVISION = 1;
/** Sites compiled before others may run. */
const SITES_IN_A_TURN = 20;

export function observeOrigins(db: Db, everyMs: number): Observer {
  const known = new Map<string, KnownSites>();
  /** Reads the sites of hosts that are new or were read long ago: a few in each look, since each reads all sites. */
  const refresh = async (hosts: readonly string[], now: number) => {
    for (const host of known.keys()) if (!hosts.includes(host)) known.delete(host);
    const ageOf = (host: string) => Math.abs(now - (known.get(host)?.readAt ?? Number.NEGATIVE_INFINITY));
    const old = hosts.filter((host) => ageOf(host) >= KNOWN_MS).toSorted((a, b) => ageOf(b) - ageOf(a));
    for (const host of old.slice(0, MAX_READ_AT_ONCE))
      known.set(host, { readAt: now, sites: await readSites(db, host) });
  };
  return {
    kinds: ['origin'],
    owner: '',
    everyMs,
    async observe(now) {
      const troubles = await findTroubles(db, now);
      await refresh([...new Set(troubles.map(({ key }) => hostOf(key)))], now);
      const found: Observation[] = [];
      for (const trouble of troubles)
        found.push(...(await observationsOf(db, trouble, known.get(hostOf(trouble.key))?.sites ?? [])));
      return found;
    },
  };
}

/** Collects what edges that are heard of report. */
async function findTroubles(db: Db, now: number): Promise<readonly Trouble[]> {
  const troubles = new Map<string, Trouble>();
  for (const { edge, group, origins } of await listEdges(db.query, { now, withinMs: EDGE_LIVE_MS }))
    for (const { key, state } of origins) {
      const trouble = troubles.get(key) ?? { key, state, edges: [] };
      if (troubles.size < MAX_TROUBLES) troubles.set(key, trouble);
      trouble.edges.push({ edge, group });
    }
  return [...troubles.values()];
}

async function observationsOf(
  db: Db,
  { key, state, edges }: Trouble,
  sites: readonly OwnedSite[],
): Promise<readonly Observation[]> {
  const concerned = sites.flatMap((site) => {
    const [address] = [...site.keys].find(([, keys]) => keys.has(key)) ?? [];
    return address === undefined ? [] : [{ site, address }];
  });
  const ids = concerned.map(({ site }) => site.domainId);
  // An edge is believed of the domains that it serves.
  const believed = new Map<string | undefined, ReadonlySet<number>>();
  for (const { group } of edges)
    if (!believed.has(group)) believed.set(group, await findReportable(db.query, group, ids));
  return concerned.flatMap(({ site: { domainId, accountId, name }, address }): readonly Observation[] => {
    const saying = edges.filter(({ group }) => believed.get(group)?.has(domainId));
    const [first] = saying;
    if (first === undefined) return [];
    const data = { origin: address, state, edges: saying.length, edge: first.edge };
    const target = { kind: 'domain', id: String(domainId), name } as const;
    return [{ kind: 'origin', key: `${domainId} ${address}`, accountId, target, level: 0, data }];
  });
}

async function readSites(db: Db, host: string): Promise<readonly OwnedSite[]> {
  const rows = await findSitesByOrigin(db.query, host);
  const sites: OwnedSite[] = [];
  for (const [index, { accountId, body }] of rows.entries()) {
    if (index % SITES_IN_A_TURN === 0) await letOthersRun();
    const compiled = compileSite(JSON.parse(body), ANY_REVISION);
    if (compiled.kind === 'invalid' || compiled.site.state !== 'open') continue;
    const { site } = compiled;
    sites.push({ domainId: site.id, accountId, name: site.name, keys: originKeys(site) });
  }
  return sites;
}

/** The host in a key `host:port`, perhaps followed by a blank and a URL. */
function hostOf(key: string): string {
  const [address = ''] = key.split(' ');
  return address.slice(0, address.lastIndexOf(':'));
}
