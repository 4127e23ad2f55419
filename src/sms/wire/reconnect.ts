/** Delay before the next session. Pure. */
import type { SessionEnd } from './session.ts';

const FIRST_MS = 1_000;
const CAP_MS = 60_000;
/** Shortest delay. */
const LEAST_MS = 50;
/** Shortest delay after a refusal that lasts, such as while the carrier still holds the broken session. */
const REFUSED_MS = 30_000;

/** Exponential back-off with full jitter. `failures`: in a row, from 1. 0 ≤ random < 1 */
export function reconnectDelayMs(end: SessionEnd, failures: number, random: number): number {
  const capMs = Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(failures - 1, 30));
  const isLasting = end.kind === 'refused' && end.isLasting;
  return Math.round((isLasting ? REFUSED_MS : LEAST_MS) + random * capMs);
}
