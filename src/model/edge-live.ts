/** How long an edge counts as live after it was last heard of. Pure. */

/** Silence after which an edge no longer delays a domain; it catches up when it returns. */
export const EDGE_LIVE_MS = 30_000;

/**
 * A report that is later than `now` by as much is from before the clock was set back: the edge counts again with its
 * next report, seconds later, and one that is gone holds nothing up.
 */
export function isLive(edge: { readonly reportedAt: number }, now: number): boolean {
  return Math.abs(now - edge.reportedAt) < EDGE_LIVE_MS;
}
