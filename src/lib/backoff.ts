/**
 * The delay before a retry: doubles from the first delay up to a cap, with jitter so that clients do not retry in step.
 */

export interface Backoff {
  readonly firstMs: number;
  readonly capMs: number;
}

/**
 * Returns between half and all of the doubled delay. `failures`: consecutive failures, at least 1. `random`: 0 ≤ random
 * < 1.
 */
export function backoffDelayMs({ firstMs, capMs }: Backoff, failures: number, random: number): number {
  const full = Math.min(capMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(full / 2 + (full / 2) * random);
}
