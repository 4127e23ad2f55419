/** Waiting for something that another process or socket does: polls with a deadline instead of sleeping. */
import { setTimeout as delay } from 'node:timers/promises';

/** Pause between two probes, a tenth of the time waited so far: a probe often costs a request. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [10, 200];

/**
 * Calls `probe` until it gives something other than `undefined` or `false`, and returns that.
 * A throwing probe counts as "not yet"; after `timeoutMs` the last error, or `what`, is thrown.
 */
export async function eventually<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 60_000,
): Promise<T> {
  const startedAt = performance.now();
  let cause: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause });
    await delay(Math.min(Math.max(waitedMs / 10, MIN_PAUSE_MS), MAX_PAUSE_MS));
  }
}
