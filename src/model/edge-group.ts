/** Groups of edges: each edge is in one, a domain is served by those of some. Pure. docs/decisions/0592 */

export const MAX_GROUPS = 256;
export const MAX_DOMAIN_GROUPS = 16;
export const MAX_GROUP_CHARS = 32;
/** Groups above a group: a parent, and its parent. */
const MAX_TIERS_ABOVE = 2;

/** Names of groups, which become part of file names. */
export const GROUP_NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;

export interface EdgeGroup {
  readonly name: string;
  /** Whether it serves domains without groups of their own. */
  readonly isDefault: boolean;
  /** Raised when the set of its domains changes as a whole. */
  readonly version: number;
  /** Group that its edges fetch through; absent: they fetch from origins. */
  readonly parent?: string;
}

/** Returns the groups and all that they fetch through. */
export function withParents(groups: readonly EdgeGroup[], names: Iterable<string>): ReadonlySet<string> {
  const found = new Set(names);
  for (const name of found) {
    const parent = groups.find((group) => group.name === name)?.parent;
    if (parent !== undefined) found.add(parent); // visited by this loop too
  }
  return found;
}

/** Returns a group and all groups that fetch through it. */
export function groupsBelow(groups: readonly EdgeGroup[], name: string): readonly string[] {
  return [name, ...groups.flatMap((group) => (group.parent === name ? groupsBelow(groups, group.name) : []))];
}

/** `unknown`: there is no such parent. `depth`: there would be a circle, or too many tiers. */
export function whyNoParent(
  groups: readonly EdgeGroup[],
  name: string,
  parent: string,
): 'unknown' | 'depth' | undefined {
  if (groups.every((group) => group.name !== parent)) return 'unknown';
  const above = withParents(groups, [parent]);
  if (above.has(name)) return 'depth';
  return above.size + tiersBelow(groups, name) > MAX_TIERS_ABOVE ? 'depth' : undefined;
}

function tiersBelow(groups: readonly EdgeGroup[], name: string): number {
  return Math.max(0, ...groups.flatMap((group) => (group.parent === name ? [1 + tiersBelow(groups, group.name)] : [])));
}

export interface GroupView extends EdgeGroup {
  /** Number of domains that have it among their own groups. */
  readonly domains: number;
  /** Number of enrolled edges in it, without revoked ones. */
  readonly edges: number;
}

/** The groups of some domains, with those that they fetch through. */
export interface Serving {
  /** Groups that serve domains without groups of their own. */
  readonly defaults: ReadonlySet<string>;
  /** Groups of each domain that has groups of its own, by its id. */
  readonly ofDomain: ReadonlyMap<number, ReadonlySet<string>>;
}

/** Whether edges of the group serve the domain. `group`: absent for an edge of control's machine, which has all. */
export function isServedBy({ defaults, ofDomain }: Serving, domainId: number, group: string | undefined): boolean {
  return group === undefined || (ofDomain.get(domainId) ?? defaults).has(group);
}

/** Groups of a domain's own. */
export interface Membership {
  readonly members: ReadonlySet<string>;
  /** Groups that served the domain in the last 30 days, and do no longer. */
  readonly left: ReadonlySet<string>;
}

/** Returns what a group is to a domain. `own`: absent if the domain has no groups of its own. */
export function relationOf(
  own: Membership | undefined,
  defaults: ReadonlySet<string>,
  group: string,
): 'serves' | 'left' | 'none' {
  const serving = own === undefined || own.members.size === 0 ? defaults : own.members;
  if (serving.has(group)) return 'serves';
  return own?.left.has(group) === true ? 'left' : 'none';
}

/** Returns the edges that serve the domain. */
export function edgesOf<E extends { readonly group?: string | undefined }>(
  serving: Serving,
  domainId: number,
  edges: readonly E[],
): readonly E[] {
  return edges.filter(({ group }) => isServedBy(serving, domainId, group));
}
