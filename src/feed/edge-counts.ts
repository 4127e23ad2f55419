/** What each edge or live process said last, for the metrics, which ask no database. */
import { Lru } from '#lib/lru.ts';
import { isLive } from '#model/acknowledgement.ts';

export type OfEdge<T> = T & { readonly edge: string };

export interface EdgeCounts<T> {
  note(edge: string, counts: T, now: number): void;
  /** Counts of edges that reported within 30 s. */
  list(now: number): readonly OfEdge<T>[];
}

/** Edges that are remembered. */
const MAX_EDGES = 10_000;

export function createEdgeCounts<T extends object>(): EdgeCounts<T> {
  const last = new Lru<string, OfEdge<T> & { readonly reportedAt: number }>({ maxWeight: MAX_EDGES });
  return {
    note: (edge, counts, reportedAt) => last.set(edge, { ...counts, edge, reportedAt }),
    list: (now) => last.values().filter((one) => isLive(one, now)),
  };
}
