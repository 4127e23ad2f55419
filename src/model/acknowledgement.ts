/**
 * When a domain's last setting change counts as in force: every live edge of its groups has acknowledged it and there is
 * at least one. Purges, renewals and health do not touch it; they raise no `settingRevision`.
 */
import type { EdgeReport, KnownEdge } from './edge.ts';

/** What a list of domains is compared with, made once for all of them. See `holdingEdges`. */
export interface InForce {
  readonly ready: Acknowledgements;
  /** Counts for domains that no ready edge serves. */
  readonly reserve: Acknowledgements;
}

/** What some edges have acknowledged. */
export interface Acknowledgements {
  /** The lowest revision applied by the edges that serve every domain; absent without one. */
  readonly floor: number | undefined;
  /** Absent without edges on other machines. */
  readonly remote?: {
    /** The same for the edges of each group; a group without one is absent. There is at least one. */
    readonly groups: ReadonlyMap<string, number>;
    /** Groups that serve domains without groups of their own. */
    readonly defaults: ReadonlySet<string>;
  };
  /** Domains whose newest spec at least one of the edges refuses. */
  readonly rejectedNames: readonly string[];
}

/** `defaults`: groups that serve domains without groups of their own; absent without edges on other machines. */
export function summarizeAcknowledgements(liveEdges: readonly KnownEdge[], defaults?: ReadonlySet<string>): InForce {
  const summarizeThose = (wanted: KnownEdge['hold']) =>
    summarize(
      liveEdges.filter(({ hold }) => hold === wanted),
      defaults,
    );
  return { ready: summarizeThose('ready'), reserve: summarizeThose('reserve') };
}

function summarize(edges: readonly EdgeReport[], defaults: ReadonlySet<string> | undefined): Acknowledgements {
  const byGroup = Map.groupBy(edges, ({ group }) => group);
  const floors = [...byGroup].flatMap(([group, own]) => (group === undefined ? [] : [[group, floorOf(own)] as const]));
  const rejections = edges.flatMap((edge) => edge.rejected);
  return {
    floor: byGroup.has(undefined) ? floorOf(byGroup.get(undefined) ?? []) : undefined,
    ...(defaults !== undefined && floors.length > 0 && { remote: { groups: new Map(floors), defaults } }),
    rejectedNames: [...new Set(rejections.filter(({ kind }) => kind === 'site').map(({ key }) => key))],
  };
}

function floorOf(edges: readonly Pick<EdgeReport, 'appliedRevision'>[]): number {
  return edges.reduce((lowest, { appliedRevision }) => Math.min(lowest, appliedRevision), Number.POSITIVE_INFINITY);
}

interface ChangedDomain {
  readonly name: string;
  readonly settingRevision: number;
}

export function isInForce({ name, settingRevision }: ChangedDomain, liveEdges: readonly EdgeReport[]): boolean {
  return isAppliedEverywhere({ kind: 'site', key: name, revision: settingRevision }, liveEdges);
}

/** Returns the edges without which the domain's last setting change is not in force; empty also when none lives. */
export function findLagging<E extends EdgeReport>({ name, settingRevision }: ChangedDomain, liveEdges: readonly E[]) {
  return liveEdges.filter((edge) => !hasApplied(edge, { kind: 'site', key: name, revision: settingRevision }));
}

interface ChangedResource {
  readonly kind: string;
  readonly key: string;
  readonly revision: number;
}

/** Whether every live edge has this resource as of `revision`; not when none lives. */
export function isAppliedEverywhere(resource: ChangedResource, liveEdges: readonly EdgeReport[]): boolean {
  return liveEdges.length > 0 && liveEdges.every((edge) => hasApplied(edge, resource));
}

export function hasApplied(
  { appliedRevision, rejected }: EdgeReport,
  { kind, key, revision }: ChangedResource,
): boolean {
  return appliedRevision >= revision && !rejected.some((other) => other.kind === kind && other.key === key);
}
