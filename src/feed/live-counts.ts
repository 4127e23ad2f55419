/** What each live process has on air, as it said last: for the metrics, which ask no database. */
import { Lru } from '#lib/lru.ts';
import { isLive } from '#model/acknowledgement.ts';
import { sumViewers } from '#model/live-stream.ts';
import type { LiveReport } from './live-report.ts';

export interface LiveCount {
  readonly edge: string;
  readonly streams: number;
  readonly viewers: number;
}

export interface LiveCounts {
  /** A report without streams changes nothing. */
  note(report: Pick<LiveReport, 'edge' | 'streams'>, now: number): void;
  /** Counts of live processes that reported within 30 s. */
  list(now: number): readonly LiveCount[];
}

/** Edges that are remembered. */
const MAX_EDGES = 10_000;

export function createLiveCounts(): LiveCounts {
  const counts = new Lru<string, LiveCount & { readonly reportedAt: number }>({ maxWeight: MAX_EDGES });
  return {
    note({ edge, streams }, reportedAt) {
      if (streams === undefined) return;
      const viewers = streams.reduce((sum, status) => sum + sumViewers(status.viewers), 0);
      counts.set(edge, { edge, streams: streams.length, viewers, reportedAt });
    },
    list: (now) => counts.values().filter((count) => isLive(count, now)),
  };
}
