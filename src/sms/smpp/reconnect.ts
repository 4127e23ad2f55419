/** How long to wait before the next session. Pure. */
import type { SessionEnd } from './session.ts';
import { STATUS } from './statuses.ts';

const FIRST_MS = 1_000;
const CAP_MS = 60_000;
/** Never at once, however the dice fall. */
const LEAST_MS = 50;
/** The carrier still holds the session that broke, and every bind may make it hold it longer. */
const ALREADY_BOUND_MS = 30_000;

/** `failures`: in a row, from 1. Anything up to the doubled delay, so that many do not come at once. 0 ≤ random < 1 */
export function reconnectDelayMs(end: SessionEnd, failures: number, random: number): number {
  const capMs = Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(failures - 1, 30));
  const isAlreadyBound = end.kind === 'refused' && end.status === STATUS.alreadyBound;
  return Math.round((isAlreadyBound ? ALREADY_BOUND_MS : LEAST_MS) + random * capMs);
}
