/** Measures how long an origin has waited for the clients that hold its slots, and finds the slowest. Pure. */

export interface Pauses<C extends { readonly client: string }> {
  /**
   * The origin waits for the claim's client from now until `resume`: for more of its request, or for it to read more of
   * its answer.
   */
  pause(claim: C, now: number): void;
  resume(claim: C, now: number): void;
  /** The claim no longer has a slot. */
  forget(claim: C): void;
  /**
   * Returns the slow claim with the longest pauses, of the client with most slow claims; `undefined` if at most
   * `tolerated` claims are slow. Only claims for which `counts` returns true are considered.
   */
  findSlowest(now: number, tolerated: number, counts?: (claim: C) => boolean): C | undefined;
}

interface Pause {
  /** Start of the current pause; `undefined` if there is none. */
  readonly since: number | undefined;
  /** Total duration of all earlier pauses. */
  readonly totalMs: number;
}

/** A claim is slow once its pauses add up to `slowMs`. */
export function createPauses<C extends { readonly client: string }>(slowMs: number): Pauses<C> {
  const pauses = new Map<C, Pause>();
  return {
    pause: (claim, now) => void pauses.set(claim, { since: now, totalMs: pauses.get(claim)?.totalMs ?? 0 }),
    resume: (claim, now) => {
      const pause = pauses.get(claim);
      if (pause !== undefined) pauses.set(claim, { since: undefined, totalMs: pausedMs(pause, now) });
    },
    forget: (claim) => void pauses.delete(claim),
    findSlowest: (now, tolerated, counts = () => true) => {
      const slow = [...pauses].filter(([claim, pause]) => counts(claim) && pausedMs(pause, now) >= slowMs);
      if (slow.length <= tolerated) return undefined;
      let most: typeof slow = [];
      for (const own of Map.groupBy(slow, ([{ client }]) => client).values()) if (own.length > most.length) most = own;
      const [first] = most.toSorted(([, a], [, b]) => pausedMs(b, now) - pausedMs(a, now));
      return first?.[0];
    },
  };
}

function pausedMs({ since, totalMs }: Pause, now: number): number {
  return totalMs + (since === undefined ? 0 : now - since);
}
