/** Ranges of time that statistics are shown for, and the grain that suits each. Pure. */
import type { StatisticsQuery } from '../../routes/statistics.ts';

export interface TimeRange {
  /** Unix seconds, both of whole minutes, so that a call of the same minute is the same. */
  readonly from: number;
  readonly to: number;
}

type Preset = Extract<StatisticsQuery['range'], string>;

const RANGE_SECONDS: Readonly<Record<Preset, number>> = {
  '1h': 3600,
  '6h': 6 * 3600,
  '24h': 86_400,
  '3d': 3 * 86_400,
  '7d': 7 * 86_400,
  '30d': 30 * 86_400,
  '90d': 90 * 86_400,
  '1y': 365 * 86_400,
};

export function secondsOf(range: Preset): number {
  return RANGE_SECONDS[range];
}

/** `now`: Unix milliseconds. The minute under way belongs to the range. */
export function lastSeconds(seconds: number, now: number): TimeRange {
  const to = Math.ceil(now / 60_000) * 60;
  return { from: to - seconds, to };
}

/** Not more points than a chart has room for. */
export function grainOf({ from, to }: TimeRange): 'minute' | 'hour' | 'day' {
  const seconds = to - from;
  if (seconds <= 6 * 3600) return 'minute';
  return seconds <= 14 * 86_400 ? 'hour' : 'day';
}
