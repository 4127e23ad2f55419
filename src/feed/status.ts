/** What an edge says of itself. */
import type { EdgeStatus, OriginTrouble } from '#model/edge.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import type { EdgeStore } from './edge-store.ts';
import { MAX_REJECTIONS } from './protocol.ts';

export interface EdgeIdentity {
  readonly edge: string;
  readonly build: string;
  readonly startedAt: number;
}

/** `at`: what every worker runs. */
export function describeStatus(
  store: EdgeStore,
  { edge, build, startedAt }: EdgeIdentity,
  at: FeedPosition,
  origins: readonly OriginTrouble[],
): EdgeStatus {
  const rejected = store.listRejections(MAX_REJECTIONS + 1);
  const omitted = rejected[MAX_REJECTIONS];
  return {
    edge,
    at,
    // A refusal that finds no place in the report must not pass for an acknowledgement: we stay behind the first of them.
    appliedRevision: omitted === undefined ? at.revision : Math.min(at.revision, omitted.revision - 1),
    rejected: rejected.slice(0, MAX_REJECTIONS),
    build,
    startedAt,
    origins,
  };
}
