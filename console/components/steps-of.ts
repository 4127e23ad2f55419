/** The outline of a course of values. Pure. */

/** Steps, as counts of a time are not points on a slope. A course of nothing but zeros is the lower edge. */
export function stepsOf(values: readonly number[], width: number, height: number): string {
  const top = Math.max(...values, 1e-9);
  const step = width / Math.max(values.length, 1);
  const round = (value: number) => Math.round(value * 10) / 10;
  const level = (value: number) => round(height - 1 - (value / top) * (height - 2));
  return values.map((value, n) => `${n === 0 ? 'M0 ' : 'V'}${level(value)}H${round((n + 1) * step)}`).join('');
}
