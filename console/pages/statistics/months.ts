/** Months as the statistics of bandwidth have them, such as `2026-11`. Pure. */

/** Returns the month before. */
export function monthBefore(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return number === 1 ? `${year - 1}-12` : `${year}-${String(number - 1).padStart(2, '0')}`;
}
