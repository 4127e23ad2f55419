/** Timers that only move when they are told to. */
import type { Timers } from '#lib/timers.ts';

export interface ManualTimers extends Timers {
  /** Runs what is due by then, in its order, at its own instant. */
  advance(ms: number): void;
  /** Timers that are set. */
  readonly size: number;
}

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

export function createManualTimers(): ManualTimers {
  let now = 0;
  const timers = new Set<Timer>();
  const firstBy = (end: number): Timer | undefined =>
    [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => now,
    after(delayMs, run) {
      const timer = { at: now + delayMs, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      const end = now + ms;
      for (let timer = firstBy(end); timer !== undefined; timer = firstBy(end)) {
        timers.delete(timer);
        now = timer.at;
        timer.run();
      }
      now = end;
    },
    get size() {
      return timers.size;
    },
  };
}
