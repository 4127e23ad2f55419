/** How long an origin has waited for the clients whose requests have a slot there, and which of them is the slowest. Pure. */

export interface Pauses<C extends { readonly client: string }> {
  /** The origin waits for the claim's client from now on, until `resume`: to send more of its request, or to take more of its answer. */
  pause(claim: C, now: number): void;
  resume(claim: C, now: number): void;
  /** The claim has no slot any more. */
  forget(claim: C): void;
  /**
   * The claim that was waited for longest, of the client that has most slow ones. `undefined`: no more than `tolerated`
   * are slow. With `counts` only claims that it returns true for are looked at.
   */
  findSlowest(now: number, tolerated: number, counts?: (claim: C) => boolean): C | undefined;
}

interface Pause {
  /** `undefined`: the client has caught up. */
  readonly since: number | undefined;
  /** Duration of all earlier pauses. */
  readonly totalMs: number;
}

/** A claim is slow from `slowMs` on, which its pauses have to add up to. */
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
