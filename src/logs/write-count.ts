/** Writes numbers as bytes without strings. */

const ZERO = 0x30;
/** Largest number that the engine stores as a small integer. */
const MAX_SMALL = 2 ** 30;

/** Writes the number as `formatCount` does; returns its end offset. */
export function writeCount(to: Buffer, from: number, value: number): number {
  const count = Math.max(0, Math.floor(value));
  if (count > MAX_SMALL) return from + to.write(String(count), from);
  let end = from + 1;
  for (let rest = count; rest >= 10; rest = (rest / 10) | 0) end++;
  let rest = count | 0;
  for (let at = end - 1; at >= from; at--) {
    const tens = (rest / 10) | 0;
    to[at] = ZERO + rest - tens * 10;
    rest = tens;
  }
  return end;
}
