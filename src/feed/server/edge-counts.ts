/** The latest counts of each edge or live process, kept for the metrics, so that these need no database. */
import { Lru } from '#lib/lru.ts';
import { isLive } from '#model/edge-live.ts';

export type OfEdge<T> = T & { readonly edge: string };

export interface EdgeCounts<T> {
  note(edge: string, counts: T, now: number): void;
  /** Returns the counts of edges that reported within 30 s. */
  list(now: number): readonly OfEdge<T>[];
}

/** Limit of remembered edges. */
const MAX_EDGES = 10_000;

export function createEdgeCounts<T extends object>(): EdgeCounts<T> {
  const last = new Lru<string, OfEdge<T> & { readonly reportedAt: number }>({ maxWeight: MAX_EDGES });
  return {
    note: (edge, counts, reportedAt) => last.set(edge, { ...counts, edge, reportedAt }),
    list: (now) => last.values().filter((one) => isLive(one, now)),
  };
}
