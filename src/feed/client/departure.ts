/**
 * Leaving a control that has announced its end. All of its edges leave at random instants within the announced time, and
 * follow it until then. docs/decisions/0573
 */
import type { Clock } from '#lib/clock.ts';

export interface FeedDeparture extends Disposable {
  /** Time until this edge turns to another control, in milliseconds; `undefined`: this one has announced nothing. */
  readonly remainingMs: number | undefined;
  /** Control ends, and its edges leave within `spreadMs`. */
  announce(spreadMs: number): void;
}

export interface FeedDepartureOptions {
  /** Called once, when the time has come. */
  readonly leave: () => void;
  /** 0 ≤ random < 1. */
  readonly random: () => number;
  /** Monotonic. */
  readonly steadyClock: Clock;
}

export function createDeparture({ leave, random, steadyClock }: FeedDepartureOptions): FeedDeparture {
  let leaveAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  return {
    get remainingMs() {
      return leaveAt === undefined ? undefined : Math.max(0, leaveAt - steadyClock());
    },
    announce(spreadMs) {
      clearTimeout(timer);
      const waitMs = Math.round(random() * spreadMs);
      leaveAt = steadyClock() + waitMs;
      timer = setTimeout(leave, waitMs);
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
