/**
 * When a domain's last setting change counts as in force: every live edge of its groups has acknowledged it and there is
 * at least one. Purges, renewals and health do not touch it; they raise no `settingRevision`.
 */
import type { EdgeReport } from './edge.ts';

/** What a list of domains is compared with, made once for all of them. */
export interface InForce {
  /** The lowest revision applied by live edges that serve every domain; absent without one. */
  readonly floor: number | undefined;
  /** Absent without live edges on other machines. */
  readonly remote?: {
    /** The same for the live edges of each group; a group without one is absent. */
    readonly groups: ReadonlyMap<string, number>;
    /** Groups that serve domains without groups of their own. */
    readonly defaults: ReadonlySet<string>;
  };
  /** Domains whose newest spec at least one live edge refuses. */
  readonly rejectedNames: readonly string[];
}

export function summarizeAcknowledgements(liveEdges: readonly EdgeReport[], defaults?: ReadonlySet<string>): InForce {
  const byGroup = Map.groupBy(liveEdges, ({ group }) => group);
  const floors = [...byGroup].flatMap(([group, edges]) =>
    group === undefined ? [] : [[group, floorOf(edges)] as const],
  );
  const rejections = liveEdges.flatMap((edge) => edge.rejected);
  return {
    floor: byGroup.has(undefined) ? floorOf(byGroup.get(undefined) ?? []) : undefined,
    ...(defaults !== undefined && { remote: { groups: new Map(floors), defaults } }),
    rejectedNames: [...new Set(rejections.filter(({ kind }) => kind === 'site').map(({ key }) => key))],
  };
}

function floorOf(edges: readonly Pick<EdgeReport, 'appliedRevision'>[]): number {
  return edges.reduce((lowest, { appliedRevision }) => Math.min(lowest, appliedRevision), Number.POSITIVE_INFINITY);
}

export function isInForce(
  { name, settingRevision }: { readonly name: string; readonly settingRevision: number },
  liveEdges: readonly EdgeReport[],
): boolean {
  return isAppliedEverywhere({ kind: 'site', key: name, revision: settingRevision }, liveEdges);
}

/** Whether every live edge has this resource as of `revision`; not when none lives. */
export function isAppliedEverywhere(
  resource: { readonly kind: string; readonly key: string; readonly revision: number },
  liveEdges: readonly EdgeReport[],
): boolean {
  return (
    liveEdges.length > 0 &&
    liveEdges.every(
      (edge) =>
        edge.appliedRevision >= resource.revision &&
        !edge.rejected.some(({ kind, key }) => kind === resource.kind && key === resource.key),
    )
  );
}
