/** What statistics show of a figure: series over time for the chart, and the same as rows for the table and the file. Pure. */
import type { CallOf, DataOf } from '#contract/operations.ts';
import type { ChartColor } from '../../components/chart-data.ts';
import type { StatisticsQuery } from '../../routes/statistics.ts';
import { grainSeconds } from './range.ts';

type Data = DataOf<'stat.series'>;
type MetricName = CallOf<'stat.series'>['metrics'][number];
/** Sums of a time; those that were not asked for are absent. */
type Sums = Partial<Readonly<Record<MetricName, number>>>;

type FigureName = '2xx' | '3xx' | '4xx' | '5xx' | 'fromCache' | 'fromOrigins' | 'toVisitors' | 'hitRatio' | 'total';

export interface Figure {
  /** The domain's name, if the figure is of one domain. */
  readonly name: FigureName | { readonly domain: string };
  readonly color: ChartColor;
  /** The color is that of another figure, too. */
  readonly isDotted: boolean;
  /** Whether it is the figure of an earlier time. */
  readonly isCompared: boolean;
  /** One for each time; null: there is none. */
  readonly values: readonly (number | null)[];
  /** Value of the whole span; null: there is none. */
  readonly total: number | null;
}

interface Part {
  readonly name: FigureName;
  readonly color: ChartColor;
  /** Value of sums that cover `seconds`; null: there is none. */
  readonly read: (sums: Sums, seconds: number) => number | null;
}

interface Metric {
  /** What is asked for, to show the parts, and to show the whole. */
  readonly asks: {
    readonly parts: readonly [MetricName, ...MetricName[]];
    readonly whole: readonly [MetricName, ...MetricName[]];
  };
  readonly isStacked: boolean;
  readonly parts: readonly [Part, ...Part[]];
  /** All of it as one value: of a domain among others, or of an earlier time. */
  readonly whole: Part;
}

const bitsPerSecond = (bytes = 0, seconds: number) => (bytes * 8) / seconds;
const hitRatio: Part = {
  name: 'hitRatio',
  color: 'accent',
  read: ({ requests = 0, hits = 0 }) => (requests === 0 ? null : hits / requests),
};
const bandwidth: Part = {
  name: 'toVisitors',
  color: 'accent',
  read: ({ bytes_out }, seconds) => bitsPerSecond(bytes_out, seconds),
};

export const METRIC: Readonly<Record<StatisticsQuery['metric'], Metric>> = {
  requests: {
    asks: { parts: ['status_2xx', 'status_3xx', 'status_4xx', 'status_5xx', 'requests'], whole: ['requests'] },
    isStacked: true,
    parts: [
      { name: '5xx', color: 'bad', read: ({ status_5xx = 0 }) => status_5xx },
      { name: '4xx', color: 'warn', read: ({ status_4xx = 0 }) => status_4xx },
      { name: '3xx', color: 'chart-4', read: ({ status_3xx = 0 }) => status_3xx },
      { name: '2xx', color: 'accent', read: ({ status_2xx = 0 }) => status_2xx },
    ],
    whole: { name: 'total', color: 'text-2', read: ({ requests = 0 }) => requests },
  },
  traffic: {
    asks: { parts: ['bytes_out', 'hit_bytes'], whole: ['bytes_out'] },
    isStacked: true,
    parts: [
      {
        name: 'fromOrigins',
        color: 'warn',
        read: ({ bytes_out = 0, hit_bytes = 0 }) => Math.max(0, bytes_out - hit_bytes),
      },
      { name: 'fromCache', color: 'accent', read: ({ hit_bytes = 0 }) => hit_bytes },
    ],
    whole: { name: 'total', color: 'text-2', read: ({ bytes_out = 0 }) => bytes_out },
  },
  bandwidth: {
    asks: { parts: ['bytes_out', 'bytes_origin'], whole: ['bytes_out'] },
    isStacked: false,
    parts: [
      bandwidth,
      { name: 'fromOrigins', color: 'warn', read: ({ bytes_origin }, seconds) => bitsPerSecond(bytes_origin, seconds) },
    ],
    whole: { ...bandwidth, color: 'text-2' },
  },
  hit_ratio: {
    asks: { parts: ['requests', 'hits'], whole: ['requests', 'hits'] },
    isStacked: false,
    parts: [hitRatio],
    whole: { ...hitRatio, color: 'text-2' },
  },
};

interface Asked {
  readonly metric: StatisticsQuery['metric'];
  /** One figure for each domain. */
  readonly isSplit: boolean;
  readonly data: Data;
  /** Length of the whole span. */
  readonly seconds: number;
}

export interface Shown {
  /** Unix seconds. */
  readonly times: readonly number[];
  readonly figures: readonly Figure[];
}

/** `undefined`: the data are an answer to another question. */
export function figuresOf({ metric, isSplit, data, seconds }: Asked): Shown | undefined {
  const { asks, parts, whole } = METRIC[metric];
  const domains = [...Map.groupBy(data.series, ({ domain_id }) => domain_id).values()];
  const isWhole = (series: Data['series']) =>
    asks[isSplit ? 'whole' : 'parts'].every((name) => series.some((one) => one.metric === name));
  if (!domains.every(isWhole) || domains.some(([one]) => (one?.domain_id !== '') !== isSplit)) return undefined;
  const step = grainSeconds(data.interval);
  const figureOf = (part: Part, series: Data['series'], which: 'values' | 'before') => {
    const sums = data.times.map((_time, n) => sumsAt(series, which, n));
    return {
      name: part.name,
      color: part.color,
      isDotted: false,
      isCompared: which === 'before',
      values: sums.map((one) => part.read(one, step)),
      total: part.read(sums.reduce(added, {}), seconds),
    };
  };
  const figures = domains.flatMap((series, n): readonly Figure[] => {
    const hasBefore = series.some(({ before }) => before !== undefined);
    if (!isSplit) {
      const own = parts.map((part) => figureOf(part, series, 'values'));
      return hasBefore ? [...own, figureOf(whole, series, 'before')] : own;
    }
    const look = { name: { domain: series[0]?.domain_name ?? '' }, ...lookOf(n) };
    const own = { ...figureOf(whole, series, 'values'), ...look };
    return hasBefore ? [own, { ...figureOf(whole, series, 'before'), ...look }] : [own];
  });
  // What is compared is drawn last, and nothing stands on it.
  const inOrder = figures.toSorted((a, b) => Number(a.isCompared) - Number(b.isCompared));
  return { times: data.times.map((at) => at / 1000), figures: inOrder };
}

const COLORS: readonly ChartColor[] = ['accent', 'warn', 'bad', 'chart-4', 'chart-5'];

function lookOf(n: number): { readonly color: ChartColor; readonly isDotted: boolean } {
  return { color: COLORS[n % COLORS.length] ?? 'accent', isDotted: n >= COLORS.length };
}

function sumsAt(series: Data['series'], which: 'values' | 'before', n: number): Sums {
  return Object.fromEntries(series.map((one) => [one.metric, one[which]?.[n] ?? 0]));
}

function added(sum: Sums, more: Sums): Sums {
  const names = Object.keys(more) as MetricName[]; // its own
  return Object.fromEntries(names.map((name) => [name, (sum[name] ?? 0) + (more[name] ?? 0)]));
}

/** Metrics to ask for. */
export function metricsOf(metric: StatisticsQuery['metric'], isSplit: boolean): MetricName[] {
  return [...METRIC[metric].asks[isSplit ? 'whole' : 'parts']];
}
