/** Sequence numbers of a session: from 1 to the last, then from 1 again. */
import type { Sequences } from './dialect.ts';

/**
 * Gives numbers that no request in flight has; there are far fewer of those than numbers. `previous`: the number before
 * the first.
 */
export function countTo(last: number, previous = 0): Sequences<unknown> {
  let latest = previous;
  return (_request, isTaken) => {
    do latest = latest >= last ? 1 : latest + 1;
    while (isTaken(latest));
    return latest;
  };
}
