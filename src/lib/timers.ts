/** Timers that tests can move by hand. */
import { steadyClock } from './clock.ts';

export interface Timers {
  /** Milliseconds; never goes back. */
  now(): number;
  /** Calls `run` once; what it returns cancels that. */
  after(delayMs: number, run: () => void): () => void;
}

export const systemTimers: Timers = {
  now: steadyClock,
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
