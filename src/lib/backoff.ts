/** How long to wait before trying again: doubles from the first delay up to a cap, with jitter so that many do not come at once. */

export interface Backoff {
  readonly firstMs: number;
  readonly capMs: number;
}

/**
 * `failures`: how many have come in a row, from 1. `random`: 0 ≤ random < 1.
 * Gives between half and all of the doubled delay.
 */
export function backoffDelayMs({ firstMs, capMs }: Backoff, failures: number, random: number): number {
  const full = Math.min(capMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(full / 2 + (full / 2) * random);
}
