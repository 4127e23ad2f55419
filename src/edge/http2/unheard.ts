/**
 * Requests of which nobody hears: nghttp2 refuses what is malformed, and resets the stream, without an event. Clients number
 * their streams one after the other, so what is missing between those that were heard of was refused. Before the first one some
 * browsers leave numbers out, for streams that only describe priorities. Pure. RFC 9113 §5.1.1
 */

export interface UnheardStreams {
  /** How many were opened before this one, which was heard of; each is told once. */
  before(id: number): number;
  /** `last`: the stream that was opened last, 0 before the first; `undefined`: nobody knows. */
  upTo(last: number | undefined): number;
  /** As many streams are open as may be: what is refused now is no request, and the client may send it again. RFC 9113 §8.7 */
  noteFull(): void;
}

/** Node ends a connection after so many; more are missing only where a client leaves numbers out. */
const MAX_UNHEARD = 1_000;

export function createUnheardStreams(): UnheardStreams {
  let next: number | undefined;
  let wasFull = false;
  const take = (id: number, from: number): number => {
    if (id < from) return 0;
    const missing = (id - from) / 2;
    next = id;
    const isTold = !wasFull && missing <= MAX_UNHEARD;
    wasFull = false;
    return isTold ? missing : 0;
  };
  return {
    before: (id) => {
      const missing = take(id, next ?? id);
      next = id + 2;
      return missing;
    },
    upTo: (last) => (last === undefined || last === 0 ? 0 : take(last + 2, next ?? 1)),
    noteFull: () => {
      wasFull = true;
    },
  };
}
