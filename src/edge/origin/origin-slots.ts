/**
 * Slots for concurrent requests at one origin. A request without a slot waits for a bounded time; `slot-book.ts`
 * chooses the next claim.
 */
import type { Cancellation } from '#lib/cancellation.ts';
import type { Eventual } from '#lib/future.ts';
import { createSlotBook, type Denied, type SlotClaim, type SlotUse } from './slot-book.ts';

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
  const book = createSlotBook<Claim>(options);
  const waiting = new Map<Claim, (slot: OriginSlot) => void>();
  const idlers: (() => void)[] = [];
  let check: NodeJS.Timeout | undefined;

  /** Takes slots back from slow clients until none is due; stops at one that is already being freed. */
  const takeBackSlow = (): void => {
    for (;;) {
      const slow = book.findSlow(monotonic());
      if (slow === undefined || slow.isTakenBack) return;
      slow.takeBack();
    }
  };
  const noteWaiting = (): void => {
    if (waiting.size === 0) {
      clearInterval(check);
      check = undefined;
    } else check ??= setInterval(takeBackSlow, CHECK_MS);
  };
  const owner: ClaimOwner = {
    free: (claim) => {
      for (const served of book.free(claim)) waiting.get(served)?.(served);
      if (idlers.length > 0 && book.taken === 0) for (const resolve of idlers.splice(0)) resolve();
    },
    pause: (claim) => book.pause(claim, monotonic()),
    resume: (claim) => book.resume(claim, monotonic()),
  };
  const wait = (claim: Claim): Promise<SlotAnswer> => {
    const { signal } = claim.asking;
    const { promise, resolve } = Promise.withResolvers<SlotAnswer>();
    const conclude = (answer: SlotAnswer) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      waiting.delete(claim);
      noteWaiting();
      resolve(answer);
    };
    const giveUp = (answer: SlotAnswer) => {
      book.leave(claim);
      conclude(answer);
    };
    const onAbort = () => giveUp({ kind: 'aborted' });
    const timer = setTimeout(() => giveUp({ kind: 'denied', reason: book.reasonFor(claim) }), timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    waiting.set(claim, (slot) => conclude({ kind: 'slot', slot }));
    takeBackSlow();
    noteWaiting();
    return promise;
  };

  return {
    ask: (asking) => {
      if (asking.signal.aborted) return { kind: 'aborted' };
      const claim = new Claim(asking, owner);
      const answer = book.ask(claim);
      if (answer === 'taken') return { kind: 'slot', slot: claim };
      return answer === 'waiting' ? wait(claim) : { kind: 'denied', reason: answer };
    },
    idle: () => (book.taken === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
  };
}

interface ClaimOwner {
  free(claim: Claim): void;
  pause(claim: Claim): void;
  resume(claim: Claim): void;
}

/** One request's claim to a slot; the slot itself once it has one. */
class Claim implements SlotClaim, OriginSlot {
  readonly client: string;
  readonly use: SlotUse;
  readonly asking: Asking;
  readonly #owner: ClaimOwner;
  #isTakenBack = false;

  constructor(asking: Asking, owner: ClaimOwner) {
    this.client = asking.client;
    this.use = asking.use;
    this.asking = asking;
    this.#owner = owner;
  }

  get isTakenBack(): boolean {
    return this.#isTakenBack;
  }

  takeBack(): void {
    this.#isTakenBack = true;
    this.asking.onTakenBack();
  }

  free(): void {
    this.#owner.free(this);
  }

  pause(): void {
    this.#owner.pause(this);
  }

  resume(): void {
    this.#owner.resume(this);
  }
}
