/**
 * When a domain's last setting change counts as in force: every live edge has acknowledged it and there is at least
 * one. Purges, renewals and health do not touch it; they raise no `settingRevision`.
 */
import type { EdgeReport } from './edge.ts';

/** What a list of domains is compared with, made once for all of them. */
export interface InForce {
  /** The lowest revision that a live edge has applied; absent when no edge is live: then nothing is in force. */
  readonly floor: number | undefined;
  /** Domains whose newest spec at least one live edge refuses. */
  readonly rejectedNames: readonly string[];
}

export function summarizeAcknowledgements(liveEdges: readonly EdgeReport[]): InForce {
  const rejections = liveEdges.flatMap((edge) => edge.rejected);
  return {
    floor: inForceFloor(liveEdges),
    rejectedNames: [...new Set(rejections.filter(({ kind }) => kind === 'site').map(({ key }) => key))],
  };
}

function inForceFloor(liveEdges: readonly Pick<EdgeReport, 'appliedRevision'>[]): number | undefined {
  return liveEdges.length === 0 ? undefined : Math.min(...liveEdges.map((edge) => edge.appliedRevision));
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
