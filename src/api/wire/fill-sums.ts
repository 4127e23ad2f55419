/** Sums as a list without gaps: a minute, hour or day without traffic is zeros. Pure. */
import { type Grain, SUM_NAMES, type Sums } from '#db/tables/statistics.ts';
import { HOUR_MS, MINUTE_MS } from '#lib/durations.ts';
import type { Days } from '#logs/day.ts';
import type { TimeRange } from './time-range.ts';

type Row = Sums & { readonly at: number };

const NONE: Sums = {
  requests: 0,
  bytes_in: 0,
  bytes_out: 0,
  bytes_origin: 0,
  hits: 0,
  hit_bytes: 0,
  status_2xx: 0,
  status_3xx: 0,
  status_4xx: 0,
  status_5xx: 0,
};

/** Time that leads from any day's beginning into the next day, whatever the clocks do. */
const OVER_A_DAY_MS = 26 * HOUR_MS;

/** `from` begins a minute, hour or day. */
export function fillSums(
  rows: readonly Row[],
  range: GrainRange,
  days: Days,
): { readonly total: Sums; readonly list: readonly Row[] } {
  const known = new Map(rows.map((row) => [row.at, row]));
  const list = instantsOf(range, days).map((at) => known.get(at) ?? { at, ...NONE });
  const total = { ...NONE };
  for (const row of rows) for (const name of SUM_NAMES) total[name] += row[name];
  return { total, list };
}

export type GrainRange = TimeRange & { readonly grain: Grain };

/** The beginnings of all minutes, hours or days up to `to`. `from` begins one. */
export function instantsOf({ grain, from, to }: GrainRange, days: Days): readonly number[] {
  const next = (at: number) => {
    if (grain === 'day') return days.startOf(days.dayOf(at + OVER_A_DAY_MS));
    return at + (grain === 'hour' ? HOUR_MS : MINUTE_MS);
  };
  const instants: number[] = [];
  for (let at = from; at <= to; at = next(at)) instants.push(at);
  return instants;
}

/** Returns the beginning of the minute, hour or day. */
export function grainStart(at: number, grain: Grain, days: Days): number {
  if (grain === 'day') return days.startOf(days.dayOf(at));
  const size = grain === 'hour' ? HOUR_MS : MINUTE_MS;
  return Math.floor(at / size) * size;
}
