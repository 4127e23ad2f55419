/** Delay before the next session. Pure. */
import type { SessionEnd } from './session.ts';
import { STATUS } from './statuses.ts';

const FIRST_MS = 1_000;
const CAP_MS = 60_000;
/** Shortest delay. */
const LEAST_MS = 50;
/** Shortest delay while the carrier still holds the broken session: each bind may make it hold that longer. */
const ALREADY_BOUND_MS = 30_000;

/** Exponential back-off with full jitter. `failures`: in a row, from 1. 0 ≤ random < 1 */
export function reconnectDelayMs(end: SessionEnd, failures: number, random: number): number {
  const capMs = Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(failures - 1, 30));
  const isAlreadyBound = end.kind === 'refused' && end.status === STATUS.alreadyBound;
  return Math.round((isAlreadyBound ? ALREADY_BOUND_MS : LEAST_MS) + random * capMs);
}
