/** Changes of groups of edges, and of the groups that serve a domain. docs/decisions/0592 */
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Db } from '#db/open.ts';
import { listDomainChanges } from '#db/tables/domain-resources.ts';
import { keepRevision } from '#db/tables/domain-revisions.ts';
import { saveDomain } from '#db/tables/domains.ts';
import {
  countGroupDomains,
  countGroupEdges,
  deleteGroup,
  findGroup,
  listGroups,
  lockGroups,
  saveDomainGroups,
  saveGroup,
} from '#db/tables/edge-groups.ts';
import { publish } from '#db/tables/resources.ts';
import { defaultServingChange, servingChange } from '#db/tables/serving-resources.ts';
import { type EdgeGroup, type GroupView, MAX_GROUPS, whyNoParent } from '#model/edge-group.ts';
import { type DomainKey, findOrRefuse } from './change.ts';

export async function listGroupViews(db: Db): Promise<readonly GroupView[]> {
  const domains = await countGroupDomains(db.query);
  const edges = await countGroupEdges(db.query);
  const groups = await listGroups(db.query);
  return groups.map((group) => ({
    ...group,
    domains: domains.get(group.name) ?? 0,
    edges: edges.get(group.name) ?? 0,
  }));
}

/**
 * Adds a group or changes one. Edges of a group whose set of domains changes as a whole take a snapshot. `parent`: empty for
 * none; `undefined` keeps it.
 */
export async function setGroup(
  db: Db,
  { name, isDefault, parent: given }: Pick<EdgeGroup, 'name' | 'isDefault'> & { readonly parent?: string | undefined },
  now: number,
): Promise<void> {
  await db.transaction(async (trx) => {
    await lockGroups(trx);
    const groups = await listGroups(trx);
    if (!isDefault) refuseLastDefault(groups, name);
    const parent = given === undefined ? groups.find((group) => group.name === name)?.parent : given || undefined;
    const why = parent === undefined ? undefined : whyNoParent(groups, name, parent);
    if (why === 'unknown') throw new ServiceError('groupNotFound', { group: parent ?? '' });
    if (why === 'depth') throw new ServiceError('groupParent', { group: name, parent: parent ?? '' });
    if (!(await saveGroup(trx, { name, isDefault, ...(parent !== undefined && { parent }), now })))
      throw new ServiceError('groupLimit', { limit: MAX_GROUPS });
    await publish(trx, [await defaultServingChange(trx)], now); // wakes every control, which compares the versions of views
  });
}

/** Refused while the group has edges or domains of its own, or is the only default one. */
export async function removeGroup(db: Db, name: string, now: number): Promise<void> {
  await db.transaction(async (trx) => {
    await lockGroups(trx);
    if ((await findGroup(trx, name)) === undefined) throw new ServiceError('groupNotFound', { group: name });
    const edges = (await countGroupEdges(trx)).get(name) ?? 0;
    const domains = (await countGroupDomains(trx)).get(name) ?? 0;
    if (edges + domains > 0) throw new ServiceError('groupInUse', { group: name, edges, domains });
    const groups = await listGroups(trx);
    const child = groups.find(({ parent }) => parent === name);
    if (child !== undefined) throw new ServiceError('groupIsParent', { group: name, child: child.name });
    refuseLastDefault(groups, name);
    await deleteGroup(trx, name);
    await publish(trx, [await defaultServingChange(trx)], now);
  });
}

/** Sets the groups that serve a domain; none: the default groups. Its status is "in progress" until they have it. */
export async function setDomainGroups(db: Db, key: DomainKey, groups: readonly string[], now: number): Promise<void> {
  await db.transaction(async (trx) => {
    await lockGroups(trx);
    const known = new Set((await listGroups(trx)).map(({ name }) => name));
    const unknown = groups.find((name) => !known.has(name));
    if (unknown !== undefined) throw new ServiceError('groupNotFound', { group: unknown });
    const domain = await findOrRefuse(trx, key);
    await saveDomainGroups(trx, { domainId: domain.id, groups, now });
    const changes = [...(await listDomainChanges(trx, domain)), servingChange(domain.id, groups)];
    const settingRevision = await publish(trx, changes, now);
    const saved = { ...domain, settingRevision };
    await saveDomain(trx, saved);
    await keepRevision(trx, saved, now);
  });
}

/** Domains without groups of their own must be served by some edge. */
function refuseLastDefault(groups: readonly EdgeGroup[], name: string): void {
  if (groups.some((group) => group.isDefault && group.name !== name)) return;
  if (groups.some((group) => group.isDefault)) throw new ServiceError('groupLastDefault', { group: name });
}
