/**
 * The slots for requests at one origin: a request without one waits for a bounded time, in turns. `slot-book.ts`
 * chooses the next claim.
 */
import type { Cancellation } from '#lib/cancellation.ts';
import type { Eventual } from '#lib/future.ts';
import { createSlotBook, type Denied, type SlotClaim } from './slot-book.ts';

export interface OriginSlotsOptions {
  readonly max: number;
  /** How long one waits. */
  readonly timeoutMs: number;
  readonly maxWaiting: number;
  readonly slowMs: number;
  /** Milliseconds of a clock that only goes forward. */
  readonly monotonic: () => number;
}

interface Asking extends SlotClaim {
  readonly signal: Cancellation;
  /** The client is too slow for a slot that others wait for: give it back. Called once at most, and only while it is held. */
  readonly onTakenBack: () => void;
}

export interface OriginSlot {
  /** Gives the slot back; call it once. */
  free(): void;
  /** The origin waits for the client, until `resume`. */
  pause(): void;
  resume(): void;
}

export type SlotAnswer =
  | { readonly kind: 'slot'; readonly slot: OriginSlot }
  | { readonly kind: 'denied'; readonly reason: Denied }
  | { readonly kind: 'aborted' };

export interface OriginSlots {
  /** A slot that is free is given in this call. */
  ask(asking: Asking): Eventual<SlotAnswer>;
  /** Resolves when none is taken and nobody waits. */
  idle(): Promise<void>;
}

/** How often it is asked whether a slow client holds what others wait for. */
const CHECK_MS = 250;

export function createOriginSlots({ timeoutMs, monotonic, ...options }: OriginSlotsOptions): OriginSlots {
  const book = createSlotBook<Asking>(options);
  const waiting = new Map<Asking, (slot: OriginSlot) => void>();
  /** Claims that hold a slot and have not been asked to give it back. */
  const holders = new Set<Asking>();
  const idlers: (() => void)[] = [];
  let check: NodeJS.Timeout | undefined;

  /** Takes slots back until waiting claims have what they need, or one is still on its way back. */
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
