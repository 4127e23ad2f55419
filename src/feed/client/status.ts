/** Describes the state of an edge for its report. */
import type { EdgeStatus, EdgeVitals, OriginTrouble } from '#model/edge.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import type { EdgeStore } from '../store/edge-store.ts';
import { MAX_REJECTIONS } from '../wire/protocol.ts';

export interface EdgeIdentity {
  readonly edge: string;
  readonly build: string;
  readonly startedAt: number;
}

export interface DescribedEdge {
  /** Position that every worker runs. */
  readonly at: FeedPosition;
  readonly origins: readonly OriginTrouble[];
  readonly vitals: EdgeVitals;
}

/** Returns the report as it is sent: the vitals are members beside the others. */
export function describeStatus(
  store: EdgeStore,
  { edge, build, startedAt }: EdgeIdentity,
  { at, origins, vitals }: DescribedEdge,
): Omit<EdgeStatus, 'vitals'> & EdgeVitals {
  const rejected = store.listRejections(MAX_REJECTIONS + 1);
  const omitted = rejected[MAX_REJECTIONS];
  return {
    edge,
    at,
    // A rejection that does not fit into the report must not count as an acknowledgement: the revision stays before it.
    appliedRevision: omitted === undefined ? at.revision : Math.min(at.revision, omitted.revision - 1),
    rejected: rejected.slice(0, MAX_REJECTIONS),
    build,
    startedAt,
    origins,
    ...vitals,
  };
}
