/**
 * Shares of one bounded stock among its holders (clients, domains), so that none of them can take all of it. Pure.
 * docs/decisions/0440
 */

export interface Shares {
  /** Total held by all holders. */
  readonly taken: number;
  readonly free: number;
  heldBy(holder: string): number;
  /** Whether the holder may take `amount` more: it may hold as much as stays free. */
  mayTake(holder: string, amount: number): boolean;
  /** Takes `amount` for the holder; a negative amount returns it. */
  add(holder: string, amount: number): void;
}

/**
 * A single holder gets half of the stock, two get a third each, and so on: some of it always remains for another one.
 * `add` may overdraw the stock; then no holder may take until enough was returned.
 */
export function createShares(max: number): Shares {
  const held = new Map<string, number>();
  let taken = 0;
  const heldBy = (holder: string): number => held.get(holder) ?? 0;
  return {
    get taken() {
      return taken;
    },
    get free() {
      return max - taken;
    },
    heldBy,
    mayTake: (holder, amount) => heldBy(holder) + amount <= max - taken,
    add: (holder, amount) => {
      taken += amount;
      const own = heldBy(holder) + amount;
      if (own === 0) held.delete(holder);
      else held.set(holder, own);
    },
  };
}
