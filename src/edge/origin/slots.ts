/** A bounded number of things at once: who comes when all are taken waits, in order, for a bounded time. */

export interface SlotsOptions {
  readonly max: number;
  /** More than so many do not wait. */
  readonly maxWaiting: number;
  readonly timeoutMs: number;
}

export interface Slots {
  /** Gives what frees the slot, to be called once; `undefined`: none in time, too many wait, or the signal has aborted. */
  take(signal: AbortSignal): Promise<(() => void) | undefined>;
  /** Resolves when none is taken and nobody waits. */
  idle(): Promise<void>;
}

export function createSlots({ max, maxWaiting, timeoutMs }: SlotsOptions): Slots {
  let taken = 0;
  const waiting = new Set<() => void>();
  const idlers: (() => void)[] = [];

  const free = (): void => {
    const [next] = waiting;
    if (next !== undefined) {
      next();
      return;
    }
    taken--;
    if (taken === 0) for (const resolve of idlers.splice(0)) resolve();
  };

  const wait = (signal: AbortSignal): Promise<(() => void) | undefined> => {
    const { promise, resolve } = Promise.withResolvers<(() => void) | undefined>();
    const leave = (slot: (() => void) | undefined) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      waiting.delete(use);
      resolve(slot);
    };
    const use = () => leave(free);
    const giveUp = () => leave(undefined);
    const timer = setTimeout(giveUp, timeoutMs);
    signal.addEventListener('abort', giveUp, { once: true });
    waiting.add(use);
    return promise;
  };

  return {
    take: async (signal) => {
      if (signal.aborted) return undefined;
      if (taken >= max) return waiting.size >= maxWaiting ? undefined : wait(signal);
      taken++;
      return free;
    },
    idle: () => (taken === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
  };
}
