/**
 * The routing table: which edges serve which set of groups, and by which name a domain points to its set. Pure.
 * docs/decisions/0720
 */
import { createHash } from 'node:crypto';
import type { PublishedPlace } from '#model/edge-place.ts';

export interface RoutedEdge extends PublishedPlace {
  readonly edge: string;
  /** Whether control has ordered it to drain. */
  readonly isDraining: boolean;
}

/** What the feed says. */
export interface RoutingFacts {
  readonly edges: readonly RoutedEdge[];
  /** Groups that serve domains without groups of their own. */
  readonly defaults: readonly string[];
  /** Groups of each domain that has groups of its own, by its id. */
  readonly ofDomain: ReadonlyMap<number, readonly string[]>;
}

interface GroupSet {
  readonly groups: readonly string[];
  /** Edges that serve it, those with weight 0 left out. */
  readonly edges: readonly RoutedEdge[];
}

export interface RoutingTable {
  /** Sets by their label in the routing zone. */
  readonly sets: ReadonlyMap<string, GroupSet>;
  readonly edges: readonly RoutedEdge[];
  labelOf(domainId: number): string;
}

/** Label of the set of the default groups, whichever they are. */
export const DEFAULT_LABEL = 'default';

export function createRoutingTable({ edges, defaults, ofDomain }: RoutingFacts): RoutingTable {
  const inUse = edges.filter(({ weight, addresses }) => weight > 0 && addresses.length > 0);
  const toSet = (groups: readonly string[]): GroupSet => ({
    groups,
    edges: inUse.filter(({ group }) => group === undefined || groups.includes(group)),
  });
  const sets = new Map([[DEFAULT_LABEL, toSet(defaults)]]);
  const labels = new Map<number, string>();
  for (const [domainId, groups] of ofDomain) {
    const label = labelOfGroups(groups);
    labels.set(domainId, label);
    if (!sets.has(label)) sets.set(label, toSet(groups));
  }
  return { sets, edges, labelOf: (domainId) => labels.get(domainId) ?? DEFAULT_LABEL };
}

/** The same on every name server, in whatever order the groups are. */
export function labelOfGroups(groups: readonly string[]): string {
  const hash = createHash('sha256').update(groups.toSorted().join()).digest('hex');
  return `s-${hash.slice(0, 12)}`;
}
