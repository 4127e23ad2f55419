/** How many resources each edge refuses, as it said last: for the metrics, which ask no database. */
import { Lru } from '#lib/lru.ts';
import { isLive } from '#model/acknowledgement.ts';
import type { EdgeReport } from '#model/edge.ts';

export interface RejectionCount {
  readonly edge: string;
  /** Rejected resources, at most as many as a report holds. */
  readonly rejected: number;
}

export interface RejectionCounts {
  note(report: Pick<EdgeReport, 'edge' | 'rejected'>, now: number): void;
  /** Counts of live edges. */
  list(now: number): readonly RejectionCount[];
}

/** Edges that are remembered. */
const MAX_EDGES = 10_000;

export function createRejectionCounts(): RejectionCounts {
  const counts = new Lru<string, RejectionCount & Pick<EdgeReport, 'reportedAt'>>({ maxWeight: MAX_EDGES });
  return {
    note: ({ edge, rejected }, now) => counts.set(edge, { edge, rejected: rejected.length, reportedAt: now }),
    list: (now) => counts.values().filter((count) => isLive(count, now)),
  };
}
