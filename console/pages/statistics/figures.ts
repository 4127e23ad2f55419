/** What statistics show of a figure: series over time for the chart, and the same as rows for the table and the file. Pure. */
import type { DataOf } from '#contract/operations.ts';
import type { ChartColor } from '../../components/chart-data.ts';
import type { StatisticsQuery } from '../../routes.ts';
import { filled, type TimeRange } from '../overview/time-range.ts';
import { type Grain, grainSeconds } from './range.ts';

/** Sums of a minute, an hour or a day; those of a call that was not made are absent. */
type Sums = Partial<DataOf<'stat.requests'>['list'][number] & DataOf<'stat.traffic'>['list'][number]>;

type FigureName = '2xx' | '3xx' | '4xx' | '5xx' | 'fromCache' | 'fromOrigins' | 'toVisitors' | 'hitRatio' | 'total';

export interface Figure {
  readonly name: FigureName;
  readonly color: ChartColor;
  readonly isCompared: boolean;
  /** One for each time; null: there is none. */
  readonly values: readonly (number | null)[];
}

interface Drawn {
  readonly name: FigureName;
  readonly color: ChartColor;
  /** Value of sums that cover `seconds`; null: there is none. */
  readonly read: (sums: Sums, seconds: number) => number | null;
}

interface Metric {
  readonly operation: 'stat.requests' | 'stat.traffic';
  readonly isStacked: boolean;
  readonly series: readonly [Drawn, ...Drawn[]];
  /** The one of another time or domain, to compare with. */
  readonly compared: Drawn;
}

const bitsPerSecond = (bytes = 0, seconds: number) => (bytes * 8) / seconds;
const hitRatio: Drawn = {
  name: 'hitRatio',
  color: 'accent',
  read: ({ requests = 0, hits = 0 }) => (requests === 0 ? null : hits / requests),
};
const bandwidth: Drawn = {
  name: 'toVisitors',
  color: 'accent',
  read: ({ bytes_out }, seconds) => bitsPerSecond(bytes_out, seconds),
};

export const METRIC: Readonly<Record<StatisticsQuery['metric'], Metric>> = {
  requests: {
    operation: 'stat.requests',
    isStacked: true,
    series: [
      { name: '5xx', color: 'bad', read: ({ status_5xx = 0 }) => status_5xx },
      { name: '4xx', color: 'warn', read: ({ status_4xx = 0 }) => status_4xx },
      { name: '3xx', color: 'chart-4', read: ({ status_3xx = 0 }) => status_3xx },
      { name: '2xx', color: 'accent', read: ({ status_2xx = 0 }) => status_2xx },
    ],
    compared: { name: 'total', color: 'text-2', read: ({ requests = 0 }) => requests },
  },
  traffic: {
    operation: 'stat.traffic',
    isStacked: true,
    series: [
      {
        name: 'fromOrigins',
        color: 'warn',
        read: ({ bytes_out = 0, hit_bytes = 0 }) => Math.max(0, bytes_out - hit_bytes),
      },
      { name: 'fromCache', color: 'accent', read: ({ hit_bytes = 0 }) => hit_bytes },
    ],
    compared: { name: 'total', color: 'text-2', read: ({ bytes_out = 0 }) => bytes_out },
  },
  bandwidth: {
    operation: 'stat.traffic',
    isStacked: false,
    series: [
      bandwidth,
      { name: 'fromOrigins', color: 'warn', read: ({ bytes_origin }, seconds) => bitsPerSecond(bytes_origin, seconds) },
    ],
    compared: { ...bandwidth, color: 'text-2' },
  },
  hit_ratio: {
    operation: 'stat.requests',
    isStacked: false,
    series: [hitRatio],
    compared: { ...hitRatio, color: 'text-2' },
  },
};

/** Data of `stat.requests` or `stat.traffic`. */
interface Data {
  readonly total: Sums;
  readonly list: readonly (Sums & { readonly time: number })[];
}

interface Asked {
  readonly metric: StatisticsQuery['metric'];
  readonly grain: Grain;
  readonly span: TimeRange;
  readonly data: Data;
  /** Data of a span that is `shift` seconds earlier. */
  readonly compared?: { readonly data: Data; readonly shift: number } | undefined;
}

export interface Shown {
  /** Unix seconds. */
  readonly times: readonly number[];
  readonly figures: readonly Figure[];
  /** Value of the whole span for each figure; null: there is none. */
  readonly totals: readonly (number | null)[];
}

export function figuresOf({ metric, grain, span, data, compared }: Asked): Shown {
  const { series, compared: other } = METRIC[metric];
  const seconds = grainSeconds(grain);
  const whole = span.to - span.from;
  const points = filled(data.list, grain, span);
  const own = series.map(
    ({ name, color, read }): Figure => ({
      name,
      color,
      isCompared: false,
      values: points.map(({ point = {} }) => read(point, seconds)),
    }),
  );
  const totals = series.map(({ read }) => read(data.total, whole));
  const times = points.map(({ time }) => time);
  if (compared === undefined) return { times, figures: own, totals };
  const { shift } = compared;
  const earlier = new Map(compared.data.list.map((point) => [point.time + shift, point]));
  const values = times.map((time) => other.read(earlier.get(time) ?? {}, seconds));
  return {
    times,
    figures: [...own, { name: other.name, color: other.color, isCompared: true, values }],
    totals: [...totals, other.read(compared.data.total, whole)],
  };
}
