/** Timers that tests can control. */
import { steadyClock } from './clock.ts';

export interface Timers {
  /** Returns monotonic milliseconds. */
  now(): number;
  /** Calls `run` once after the delay. Returns a function that cancels the call. */
  after(delayMs: number, run: () => void): () => void;
}

export const systemTimers: Timers = {
  now: steadyClock,
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
