/** A check for instants in external data. */
import { isCount } from './is-count.ts';

/** Later instants are refused: dates end before the largest integers do. The year 2200, epoch milliseconds. */
export const LATEST_MS = Date.UTC(2200, 0);

/** Whether the value is an instant from 1970 to 2200, in epoch milliseconds. */
export function isInstant(value: unknown): value is number {
  return isCount(value, LATEST_MS);
}
