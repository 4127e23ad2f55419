/** Groups of edges, and which of them serve a domain. */
import type { Transaction } from 'kysely';
import {
  type EdgeGroup,
  MAX_GROUPS,
  type Membership,
  relationOf,
  type Serving,
  withParents,
} from '#model/edge-group.ts';
import { lockInTransaction } from '../engines/engine.ts';
import type { Executor, Schema } from '../schema/schema.ts';

/** Domains in one query. */
const MAX_IDS = 500;

/** Lists all groups by name. */
export async function listGroups(x: Executor): Promise<readonly EdgeGroup[]> {
  const rows = await x.selectFrom('edge_group').selectAll().orderBy('name').execute();
  return rows.map(({ name, is_default, version, parent }) => ({
    ...{ name, isDefault: is_default === 1, version },
    ...(parent !== null && { parent }),
  }));
}

/** Returns `undefined` if there is no such group. */
export async function findGroup(x: Executor, name: string): Promise<EdgeGroup | undefined> {
  return (await listGroups(x)).find((group) => group.name === name);
}

/** Holds off other changes of groups until the transaction ends. Must precede them. */
export async function lockGroups(trx: Transaction<Schema>): Promise<void> {
  await lockInTransaction(trx, 'edge groups');
}

/**
 * Adds a group, or changes one. A group whose set of domains changes as a whole gets another version: one that becomes a
 * default one or ceases to be, and those that edges fetch through from now on, or no longer. Returns false, with nothing
 * changed, if there are 256 others.
 */
export async function saveGroup(
  trx: Transaction<Schema>,
  { name, isDefault, parent, now }: Pick<EdgeGroup, 'name' | 'isDefault' | 'parent'> & { readonly now: number },
): Promise<boolean> {
  const groups = await listGroups(trx);
  const present = groups.find((group) => group.name === name);
  if (present === undefined && groups.length >= MAX_GROUPS) return false;
  const values = { is_default: isDefault ? 1 : 0, parent: parent ?? null };
  if (present === undefined)
    await trx
      .insertInto('edge_group')
      .values({ name, ...values, version: 0, created_at: now })
      .execute();
  else await trx.updateTable('edge_group').set(values).where('name', '=', name).execute();
  const before = withParents(groups, present?.parent === undefined ? [] : [present.parent]);
  const after = withParents(groups, parent === undefined ? [] : [parent]);
  const hasOther = present?.isDefault !== isDefault;
  const changed = hasOther ? [name, ...before.union(after)] : [...before.symmetricDifference(after)];
  if (changed.length > 0)
    await trx
      .updateTable('edge_group')
      .set((e) => ({ version: e('version', '+', 1) }))
      .where('name', 'in', changed)
      .execute();
  return true;
}

export async function deleteGroup(trx: Transaction<Schema>, name: string): Promise<void> {
  await trx.deleteFrom('domain_group').where('group_name', '=', name).execute();
  await trx.deleteFrom('edge_group').where('name', '=', name).execute();
}

/** Counts the domains that have each group among their own. */
export async function countGroupDomains(x: Executor): Promise<ReadonlyMap<string, number>> {
  const rows = await x
    .selectFrom('domain_group')
    .innerJoin('domain', 'domain.id', 'domain_id')
    .where('left_at', 'is', null)
    .where('deleted_at', 'is', null)
    .groupBy('group_name')
    .select((e) => ['group_name', e.fn.countAll<number>().as('count')])
    .execute();
  return new Map(rows.map(({ group_name, count }) => [group_name, Number(count)]));
}

/** Counts the enrolled edges in each group, without revoked ones. */
export async function countGroupEdges(x: Executor): Promise<ReadonlyMap<string, number>> {
  const rows = await x
    .selectFrom('edge')
    .where('kind', '=', 'edge')
    .where('revoked_at', 'is', null)
    .groupBy('group_name')
    .select((e) => ['group_name', e.fn.countAll<number>().as('count')])
    .execute();
  return new Map(rows.map(({ group_name, count }) => [group_name, Number(count)]));
}

/** Returns the groups of the domain's own, by name; empty if it is served by the default groups. */
export async function listDomainGroups(x: Executor, domainId: number): Promise<readonly string[]> {
  return [...((await readOwnGroups(x, [domainId])).get(domainId)?.members ?? [])].sort();
}

/** Sets the groups of a domain; none: the default ones serve it. Those that served it before are remembered as left. */
export async function saveDomainGroups(
  trx: Transaction<Schema>,
  { domainId, groups, now }: { readonly domainId: number; readonly groups: readonly string[]; readonly now: number },
): Promise<void> {
  const { defaults, ofDomain } = await readServing(trx, [domainId]);
  const before = ofDomain.get(domainId) ?? defaults;
  const after = groups.length > 0 ? withParents(await listGroups(trx), groups) : defaults;
  const rows = [
    ...groups.map((name) => ({ domain_id: domainId, group_name: name, left_at: null })),
    ...[...before.difference(after)].map((name) => ({ domain_id: domainId, group_name: name, left_at: now })),
  ];
  const old = trx.deleteFrom('domain_group').where('domain_id', '=', domainId);
  await old.where('group_name', 'in', [...before.union(after)]).execute();
  if (rows.length > 0) await trx.insertInto('domain_group').values(rows).execute();
}

/** Reads the groups that serve these domains. */
export async function readServing(x: Executor, domainIds: readonly number[]): Promise<Serving> {
  const { defaults, ofDomain } = await readMemberships(x, domainIds);
  const own = [...ofDomain].filter(([, { members }]) => members.size > 0);
  return { defaults, ofDomain: new Map(own.map(([id, { members }]) => [id, members])) };
}

/**
 * Returns those of the domains that an edge may report of: its group serves them, or did within the last 30 days, so that
 * what it had not sent yet still counts. `group`: absent for an edge of control's machine, which serves all.
 */
export async function findReportable(
  x: Executor,
  group: string | undefined,
  domainIds: readonly number[],
): Promise<ReadonlySet<number>> {
  if (group === undefined || domainIds.length === 0) return new Set(domainIds);
  const { defaults, ofDomain } = await readMemberships(x, domainIds);
  return new Set(domainIds.filter((id) => relationOf(ofDomain.get(id), defaults, group) !== 'none'));
}

/** Reads the groups that serve these domains or are fetched through, and those that did or were. */
export async function readMemberships(
  x: Executor,
  domainIds: readonly number[],
): Promise<{ readonly defaults: ReadonlySet<string>; readonly ofDomain: ReadonlyMap<number, Membership> }> {
  const groups = await listGroups(x);
  const defaults = groups.filter(({ isDefault }) => isDefault).map(({ name }) => name);
  const own = [...(await readOwnGroups(x, domainIds))];
  return {
    defaults: withParents(groups, defaults),
    ofDomain: new Map(own.map(([id, { members, left }]) => [id, { members: withParents(groups, members), left }])),
  };
}

/** Reads the groups of these domains' own. */
async function readOwnGroups(x: Executor, domainIds: readonly number[]): Promise<ReadonlyMap<number, Membership>> {
  const ofDomain = new Map<number, { members: Set<string>; left: Set<string> }>();
  const ids = [...new Set(domainIds)];
  for (let from = 0; from < ids.length; from += MAX_IDS) {
    const rows = await x
      .selectFrom('domain_group')
      .selectAll()
      .where('domain_id', 'in', ids.slice(from, from + MAX_IDS))
      .execute();
    for (const { domain_id, group_name, left_at } of rows) {
      const own = ofDomain.get(domain_id) ?? { members: new Set(), left: new Set() };
      ofDomain.set(domain_id, own);
      own[left_at === null ? 'members' : 'left'].add(group_name);
    }
  }
  return ofDomain;
}

/** Forgets groups that domains left before `before`: an edge that was away longer takes a snapshot. */
export async function pruneLeftGroups(trx: Transaction<Schema>, before: number): Promise<void> {
  await trx.deleteFrom('domain_group').where('left_at', '<', before).execute();
}
