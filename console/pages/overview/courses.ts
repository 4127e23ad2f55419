/** Sums of traffic over time, and what they come to. Pure. */
import type { DataOf } from '#contract/operations.ts';

export const TRAFFIC_METRICS = [
  'requests',
  'hits',
  'bytes_out',
  'status_2xx',
  'status_3xx',
  'status_4xx',
  'status_5xx',
] as const;
type TrafficMetric = (typeof TRAFFIC_METRICS)[number];

interface Course {
  readonly values: readonly number[];
  readonly total: number;
  /** The total of the time before; `undefined`: it was not asked for. */
  readonly before: number | undefined;
}

export type Courses = Readonly<Record<TrafficMetric, Course>>;

export function coursesOf({ series }: Pick<DataOf<'stat.series'>, 'series'>): Courses {
  const courses = TRAFFIC_METRICS.map((metric) => {
    const found = series.find((one) => one.metric === metric);
    const values = (found?.values ?? []).map((value) => value ?? 0);
    return [metric, { values, total: sumOf(values), before: found?.before && sumOf(found.before) }];
  });
  return Object.fromEntries(courses) as Courses; // one for each metric
}

function sumOf(values: readonly (number | null)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

/** The share of a part; `undefined` of nothing. */
export function shareOf(part: number, whole: number): number | undefined {
  return whole === 0 ? undefined : part / whole;
}

/** The change since the time before, as a share of that; `undefined` if there was nothing. */
export function changeOf(now: number, then: number | undefined): number | undefined {
  return then === undefined ? undefined : shareOf(now - then, then);
}
