/** What a name server reads of an edge's file: the names of the sites, those that are gone, edges and groups. */
import type { DatabaseSync } from 'node:sqlite';
import { EDGE_KIND, type EdgeOrders } from '#model/edge-orders.ts';
import { PLACE_KIND, type PublishedPlace } from '#model/edge-place.ts';
import { SERVING_KIND, type ServingGroups } from '#model/serving-groups.ts';

interface SiteName {
  readonly name: string;
  /** Id of the domain. */
  readonly id: number;
}

export interface RoutingReader {
  /** Id of the domain with this name; `undefined` if there is no such site. */
  siteId(name: string): number | undefined;
  /** When the site with this name was deleted here; `undefined`: it was not, or a day ago. */
  goneAt(name: string): number | undefined;
  listSites(): readonly SiteName[];
  listGone(): readonly { readonly name: string; readonly at: number }[];
  /** Changes whenever the next two do. */
  routingStamp(): string;
  listPlaces(): readonly (PublishedPlace & { readonly edge: string; readonly isDraining: boolean })[];
  /** Groups by the id of the domain as text, and those of `DEFAULT_SERVING`. */
  listServing(): ReadonlyMap<string, readonly string[]>;
}

export function createRoutingReader(database: DatabaseSync): RoutingReader {
  const id = "json_extract(body, '$.id')";
  const selectId = database.prepare(`select ${id} as id from resource where kind = 'site' and key = ?`);
  const selectSites = database.prepare(`select key, ${id} as id from resource where kind = 'site'`);
  const selectGone = database.prepare('select key, left_at from departed_site');
  const selectGoneAt = database.prepare('select left_at from departed_site where key = ?');
  const selectStamp = database.prepare(
    'select count(*) as n, max(revision) as revision from resource where kind in (?, ?, ?)',
  );
  const selectPlaces = database.prepare(`
    select place.key as edge, place.body as place, orders.body as orders from resource as place
      left join resource as orders on orders.kind = '${EDGE_KIND}' and orders.key = place.key
      where place.kind = '${PLACE_KIND}'`);
  const selectServing = database.prepare(`select key, body from resource where kind = '${SERVING_KIND}'`);
  return {
    siteId: (name) => {
      const row = selectId.get(name);
      return row && Number(row['id']);
    },
    goneAt: (name) => {
      const row = selectGoneAt.get(name);
      return row && Number(row['left_at']);
    },
    listSites: () => selectSites.all().map((row) => ({ name: String(row['key']), id: Number(row['id']) })),
    listGone: () => selectGone.all().map((row) => ({ name: String(row['key']), at: Number(row['left_at']) })),
    routingStamp: () => {
      const row = selectStamp.get(PLACE_KIND, SERVING_KIND, EDGE_KIND);
      return `${row?.['n']} ${row?.['revision']}`;
    },
    // `as`, here and below: only what `accept.ts` has checked was stored.
    listPlaces: () =>
      selectPlaces.all().map(({ edge, place, orders }) => ({
        ...(JSON.parse(String(place)) as PublishedPlace),
        edge: String(edge),
        isDraining: orders !== null && (JSON.parse(String(orders)) as EdgeOrders).isDraining,
      })),
    listServing: () =>
      new Map(
        selectServing.all().map(({ key, body }) => [String(key), (JSON.parse(String(body)) as ServingGroups).groups]),
      ),
  };
}
