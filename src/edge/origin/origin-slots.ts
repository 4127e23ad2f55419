/**
 * Slots for concurrent requests at one origin. A request without a slot waits for a bounded time; `slot-book.ts`
 * chooses the next claim.
 */
import type { Cancellation } from '#lib/cancellation.ts';
import type { Eventual } from '#lib/future.ts';
import { createSlotBook, type Denied, type SlotClaim } from './slot-book.ts';

export interface OriginSlotsOptions {
  readonly max: number;
  /** Limit of one claim's wait. */
  readonly timeoutMs: number;
  readonly maxWaiting: number;
  readonly slowMs: number;
  /** Milliseconds of a clock that never steps back. */
  readonly monotonic: () => number;
}

interface Asking extends SlotClaim {
  readonly signal: Cancellation;
  /**
   * Called at most once, and only while the slot is held: the client is too slow for a slot that others wait for, and
   * the slot must be freed.
   */
  readonly onTakenBack: () => void;
}

export interface OriginSlot {
  /** Frees the slot. Must be called once. */
  free(): void;
  /** The origin waits for the client until `resume`. */
  pause(): void;
  resume(): void;
}

export type SlotAnswer =
  | { readonly kind: 'slot'; readonly slot: OriginSlot }
  | { readonly kind: 'denied'; readonly reason: Denied }
  | { readonly kind: 'aborted' };

export interface OriginSlots {
  /** Asks for a slot. A free slot is returned synchronously. */
  ask(asking: Asking): Eventual<SlotAnswer>;
  /** Resolves when no slot is taken. */
  idle(): Promise<void>;
}

/** Interval of checks for slow clients that hold slots others wait for. */
const CHECK_MS = 250;

export function createOriginSlots({ timeoutMs, monotonic, ...options }: OriginSlotsOptions): OriginSlots {
  const book = createSlotBook<Asking>(options);
  const waiting = new Map<Asking, (slot: OriginSlot) => void>();
  /** Claims that hold a slot and have not been asked to give it back. */
  const holders = new Set<Asking>();
  const idlers: (() => void)[] = [];
  let check: NodeJS.Timeout | undefined;

  /** Takes slots back from slow clients until none is due; stops at one that is already being freed. */
  const takeBackSlow = (): void => {
    for (;;) {
      const slow = book.findSlow(monotonic());
      if (slow === undefined || !holders.delete(slow)) return;
      slow.onTakenBack();
    }
  };
  const noteWaiting = (): void => {
    if (waiting.size === 0) {
      clearInterval(check);
      check = undefined;
    } else check ??= setInterval(takeBackSlow, CHECK_MS);
  };
  const give = (asking: Asking): OriginSlot => {
    holders.add(asking);
    return {
      free: () => {
        holders.delete(asking);
        for (const served of book.free(asking)) waiting.get(served)?.(give(served));
        if (idlers.length > 0 && book.taken === 0) for (const resolve of idlers.splice(0)) resolve();
      },
      pause: () => book.pause(asking, monotonic()),
      resume: () => book.resume(asking, monotonic()),
    };
  };
  const wait = (asking: Asking): Promise<SlotAnswer> => {
    const { promise, resolve } = Promise.withResolvers<SlotAnswer>();
    const conclude = (answer: SlotAnswer) => {
      clearTimeout(timer);
      asking.signal.removeEventListener('abort', onAbort);
      waiting.delete(asking);
      noteWaiting();
      resolve(answer);
    };
    const giveUp = (answer: SlotAnswer) => {
      book.leave(asking);
      conclude(answer);
    };
    const onAbort = () => giveUp({ kind: 'aborted' });
    const timer = setTimeout(() => giveUp({ kind: 'denied', reason: book.reasonFor(asking) }), timeoutMs);
    asking.signal.addEventListener('abort', onAbort, { once: true });
    waiting.set(asking, (slot) => conclude({ kind: 'slot', slot }));
    takeBackSlow();
    noteWaiting();
    return promise;
  };

  return {
    ask: (asking) => {
      if (asking.signal.aborted) return { kind: 'aborted' };
      const answer = book.ask(asking);
      if (answer === 'taken') return { kind: 'slot', slot: give(asking) };
      return answer === 'waiting' ? wait(asking) : { kind: 'denied', reason: answer };
    },
    idle: () => (book.taken === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
  };
}
