/** The span that statistics are shown for, its grain, and what it is compared with. Unix seconds. Pure. */
import type { StatisticsQuery } from '../../routes/statistics.ts';
import { grainOf, lastSeconds, secondsOf, type TimeRange } from '../overview/time-range.ts';

export type Grain = ReturnType<typeof grainOf>;

const DAY_SECONDS = 86_400;
const WEEK_SECONDS = 7 * DAY_SECONDS;
const GRAIN_SECONDS: Readonly<Record<Grain, number>> = { minute: 60, hour: 3600, day: DAY_SECONDS };

/** How long the service keeps what is finer than days. */
const KEPT_SECONDS = { minute: 7 * DAY_SECONDS, hour: 90 * DAY_SECONDS };

/** `now`: Unix milliseconds. */
export function spanOf(range: StatisticsQuery['range'], now: number): TimeRange {
  return typeof range === 'string' ? lastSeconds(secondsOf(range), now) : range;
}

/** Not more points than a chart has room for, and not finer than what is still there. */
export function keptGrainOf(range: TimeRange, now: number): Grain {
  const age = now / 1000 - range.from;
  const wanted = grainOf(range);
  if (wanted === 'minute' && age <= KEPT_SECONDS.minute) return 'minute';
  return wanted !== 'day' && age <= KEPT_SECONDS.hour ? 'hour' : 'day';
}

export function grainSeconds(grain: Grain): number {
  return GRAIN_SECONDS[grain];
}

/** Seconds by which what is compared with is earlier; `undefined`: there is nothing to compare with. */
export function shiftOf({ from, to }: TimeRange, compare: StatisticsQuery['compare']): number | undefined {
  switch (compare) {
    case '':
      return undefined;
    case 'week':
      return WEEK_SECONDS;
    case 'before':
      return to - from;
  }
}

/** What was marked in a chart, as whole minutes, hours or days; at least one. */
export function zoomedSpan({ from, to }: TimeRange, grain: Grain): TimeRange {
  const size = GRAIN_SECONDS[grain];
  const begin = Math.floor(from / size) * size;
  return { from: begin, to: Math.max(Math.ceil(to / size) * size, begin + size) };
}
