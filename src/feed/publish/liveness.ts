/**
 * Which edges on other machines are alive. An open stream alone proves little: after a cut cable it stays open for a
 * quarter of an hour. So an edge counts that was heard of since the last look, or has opened its stream a short time ago.
 * docs/decisions/0574
 */

/** Time that an edge may take for its first report after it has opened a stream. */
const BEGINNING_MS = 60_000;

export interface OpenStream {
  readonly edge: string;
  readonly openedAt: number;
}

export interface Liveness {
  /** Notes a request of an edge. */
  hear(edge: string): void;
  /** Returns the edges that are alive. What was heard until now does not count at the next look. */
  look(streams: readonly OpenStream[], now: number): readonly string[];
}

export function createLiveness(): Liveness {
  let heard = new Set<string>();
  return {
    hear: (edge) => void heard.add(edge),
    look(streams, now) {
      const begun = streams.filter(({ openedAt }) => Math.abs(now - openedAt) < BEGINNING_MS);
      const alive = new Set([...heard, ...begun.map(({ edge }) => edge)]);
      heard = new Set();
      return [...alive];
    },
  };
}
