/** Days of the service's time zone, as `YYYY-MM-DD`. Pure. */
import { createLocalTime, lastSecondOf } from '#lib/local-time.ts';

export interface Days {
  dayOf(at: number): string;
  /** Epoch milliseconds of a day's first instant. */
  startOf(day: string): number;
}

const DAY_MS = 24 * 3_600_000;

export function createDays(timeZone: string): Days {
  const zone = createLocalTime(timeZone);
  let known = { day: '', start: 0 };
  return {
    dayOf: (at) => zone.format(at).slice(0, 10),
    startOf(day) {
      if (known.day !== day) known = { day, start: ((lastSecondOf(dayBefore(day), timeZone) ?? 0) + 1) * 1000 };
      return known.start;
    },
  };
}

function dayBefore(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) - DAY_MS).toISOString().slice(0, 10);
}
