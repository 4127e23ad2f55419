/**
 * How often a person may be tried to be signed in from one network. Wrong tries from elsewhere do not count, so nobody
 * can lock another out. Pure. docs/decisions/0664
 */

/** Wrong tries of one person from one network. */
export interface SignInTries {
  readonly failures: number;
  readonly lastAt: number;
}

const MINUTE_MS = 60_000;
const FREE = 5;
const LONGEST_MINUTES = 15;
/** Time after which they are forgotten. */
export const TRIES_KEPT_MS = 24 * 60 * MINUTE_MS;

/** Returns the instant from which the next try is taken: after five failures 1, 2, 4 … 15 minutes later. 0: at once. */
export function heldUntil(tries: SignInTries | undefined, now: number): number {
  if (tries === undefined || tries.failures < FREE || now - tries.lastAt >= TRIES_KEPT_MS) return 0;
  return tries.lastAt + Math.min(LONGEST_MINUTES, 2 ** (tries.failures - FREE)) * MINUTE_MS;
}
