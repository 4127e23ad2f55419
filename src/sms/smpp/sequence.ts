/** Sequence numbers of a session: from 1 to 0x7FFFFFFF, then from 1 again. SMPP 3.4 §3.2 */

const LAST = 0x7fffffff;

/** Returns the next number that no request in flight has; there are far fewer of those than numbers. */
export function nextSequence(previous: number, isWaiting: (sequence: number) => boolean): number {
  let next = previous;
  do next = next >= LAST ? 1 : next + 1;
  while (isWaiting(next));
  return next;
}
