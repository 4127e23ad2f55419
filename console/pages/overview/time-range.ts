/** Ranges of time that statistics are shown for, and the grain that suits each. Pure. */
import type { StatisticsQuery } from '../../routes.ts';

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

/** The same length of time before. */
export function before({ from, to }: TimeRange): TimeRange {
  return { from: from - (to - from), to: from };
}

/** Not more points than a chart has room for. */
export function grainOf({ from, to }: TimeRange): 'minute' | 'hour' | 'day' {
  const seconds = to - from;
  if (seconds <= 6 * 3600) return 'minute';
  return seconds <= 14 * 86_400 ? 'hour' : 'day';
}

const GRAIN_SECONDS = { minute: 60, hour: 3600, day: 86_400 } as const;

interface Point {
  /** Unix seconds. */
  readonly time: number;
}

/**
 * `values` of each interval of the range, zeros where the list has none: a gap in a chart would be drawn as a slope.
 * Intervals begin where those of the list do, or at whole ones in UTC.
 */
export function filled<P extends Point>(
  list: readonly P[],
  grain: keyof typeof GRAIN_SECONDS,
  { from, to }: TimeRange,
): readonly { readonly time: number; readonly point: P | undefined }[] {
  const step = GRAIN_SECONDS[grain];
  const phase = (list[0]?.time ?? 0) % step;
  const first = Math.floor((from - phase) / step) * step + phase;
  const points = new Map(list.map((point) => [point.time, point]));
  const times = Array.from({ length: Math.max(0, Math.ceil((to - first) / step)) }, (_, n) => first + n * step);
  return times.map((time) => ({ time, point: points.get(time) }));
}

/** The change since the time before, as a share of that; `undefined` if there was nothing. */
export function changeOf(now: number, then: number): number | undefined {
  return then === 0 ? undefined : (now - then) / then;
}
