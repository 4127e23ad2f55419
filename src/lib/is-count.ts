/** A check for numbers that count something, in data from elsewhere. */

/** Whether it is a whole number from 0 to `max`. */
export function isCount(value: unknown, max = Number.MAX_SAFE_INTEGER): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= max;
}
