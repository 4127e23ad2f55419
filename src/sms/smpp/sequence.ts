/** Sequence numbers of a session: SMPP 3.4 §3.2 has 1 to 0x7FFFFFFF, and then 1 again. */

const LAST = 0x7fffffff;

/** One that still waits for its answer is passed over; fewer wait than there are numbers. */
export function nextSequence(previous: number, isWaiting: (sequence: number) => boolean): number {
  let next = previous;
  do next = next >= LAST ? 1 : next + 1;
  while (isWaiting(next));
  return next;
}
