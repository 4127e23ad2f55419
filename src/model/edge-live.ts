/** How long an edge counts as live after it was last heard of. Pure. */

/** Silence after which an edge no longer delays a domain; it catches up when it returns. */
export const EDGE_LIVE_MS = 30_000;

/**
 * A report this far in the future is from before the clock was set back, and does not count. A live edge reports again
 * within seconds; one that is gone delays nothing.
 */
export function isLive(edge: { readonly reportedAt: number }, now: number): boolean {
  return Math.abs(now - edge.reportedAt) < EDGE_LIVE_MS;
}
