/** Days of the service's time zone, as `YYYY-MM-DD`. Pure. */
import { DAY_MS } from '#lib/durations.ts';
import { createLocalTime, firstSecondOf } from '#lib/local-time.ts';

export interface Days {
  dayOf(at: number): string;
  /** Returns the first instant of a day, epoch milliseconds. */
  startOf(day: string): number;
  /** Returns the date `days` calendar days before that of `at`; they need not have 24 hours. */
  dayBefore(at: number, days: number): string;
}

export function createDays(timeZone: string): Days {
  const zone = createLocalTime(timeZone);
  let known = { day: '', start: 0 };
  const dayOf = (at: number) => zone.format(at).slice(0, 10);
  return {
    dayOf,
    startOf(day) {
      if (known.day !== day) known = { day, start: (firstSecondOf(day, timeZone) ?? 0) * 1000 };
      return known.start;
    },
    dayBefore: (at, days) => new Date(Date.parse(dayOf(at)) - days * DAY_MS).toISOString().slice(0, 10),
  };
}
