/** Groups of edges: each edge is in one, a domain is served by those of some. Pure. docs/decisions/0592 */

export const MAX_GROUPS = 256;
export const MAX_DOMAIN_GROUPS = 16;
export const MAX_GROUP_CHARS = 32;

/** Names of groups, which become part of file names. */
export const GROUP_NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;

export interface EdgeGroup {
  readonly name: string;
  /** Whether it serves domains without groups of their own. */
  readonly isDefault: boolean;
  /** Raised when the set of its domains changes as a whole. */
  readonly version: number;
}

export interface GroupView extends EdgeGroup {
  /** Number of domains that have it among their own groups. */
  readonly domains: number;
  /** Number of enrolled edges in it, without revoked ones. */
  readonly edges: number;
}

/** The groups of some domains. */
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
