/** Limits the bytes per second of all transfers together. */
import { setTimeout as delay } from 'node:timers/promises';

export interface Pacer {
  /** Resolves when so many bytes may be sent; rejects when `signal` aborts. */
  take(bytes: number, signal: AbortSignal): Promise<void>;
}

/** `monotonic`: milliseconds of a clock that is never set. */
export function createPacer(bytesPerSecond: number, monotonic: () => number): Pacer {
  /** Instant at which everything that was taken has been sent. */
  let freeAt = 0;
  return {
    async take(bytes, signal) {
      const now = monotonic();
      const startAt = Math.max(now, freeAt);
      freeAt = startAt + (bytes / bytesPerSecond) * 1000;
      // Timers are coarse: shorter waits would cost more than they hold back.
      if (startAt - now >= 1) await delay(startAt - now, undefined, { signal });
    },
  };
}
