/** The place of edges among the tiers, compared with what is published of it. */
import { type EdgeTier, MAX_TIER_SERIALS, TIER_KIND } from '#model/edge-tier.ts';
import type { Executor } from '../../schema/schema.ts';
import { listGroups } from '../edge-groups.ts';
import type { Change } from '../resources.ts';

/** Returns the changes that bring the published resources to what the tables say. */
export async function listTierChanges(x: Executor): Promise<readonly Change[]> {
  const published = await x
    .selectFrom('resource')
    .select(['key', 'body'])
    .where('kind', '=', TIER_KIND)
    .where('deleted', '=', 0)
    .execute();
  const groups = await listGroups(x);
  const parents = new Map(
    groups.flatMap(({ name, parent }) => (parent === undefined ? [] : [[name, parent] as const])),
  );
  if (parents.size === 0 && published.length === 0) return [];
  const wanted = await readTiers(x, parents);
  const before = new Map(published.map(({ key, body }) => [key, body]));
  return [
    ...[...wanted].flatMap(([key, body]): Change[] =>
      before.get(key) === JSON.stringify(body) ? [] : [{ kind: TIER_KIND, key, op: 'put', body }],
    ),
    ...[...before.keys()].flatMap((key): Change[] => (wanted.has(key) ? [] : [{ kind: TIER_KIND, key, op: 'delete' }])),
  ];
}

/** Reads the edges of groups that have a parent or are one. `parents`: by group. */
async function readTiers(x: Executor, parents: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, EdgeTier>> {
  const groups = [...new Set([...parents].flat())];
  if (groups.length === 0) return new Map();
  const edges = await x
    .selectFrom('edge')
    .select(['id', 'group_name', 'tier_address'])
    .where('kind', '=', 'edge')
    .where('group_name', 'in', groups)
    .where('revoked_at', 'is', null)
    .where('removed_at', 'is', null)
    .orderBy('id')
    .execute();
  const certificates = await x
    .selectFrom('edge_certificate')
    .innerJoin('edge', 'edge.id', 'edge_certificate.edge')
    .select(['edge_certificate.edge', 'serial'])
    .where('group_name', 'in', groups)
    .where('edge_certificate.state', 'in', ['new', 'current'])
    .orderBy('made_at', 'desc')
    .orderBy('serial')
    .execute();
  const serials = Map.groupBy(certificates, ({ edge }) => edge);
  return new Map(
    edges.map(({ id, group_name: group, tier_address: address }) => {
      const parent = parents.get(group);
      const own = (serials.get(id) ?? []).slice(0, MAX_TIER_SERIALS).map(({ serial }) => serial);
      return [id, { group, ...(parent !== undefined && { parent }), ...(address !== '' && { address }), serials: own }];
    }),
  );
}
