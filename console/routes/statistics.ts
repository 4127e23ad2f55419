/** Addresses of figures: of the overview, and of statistics. */
import { PATHS } from '../routes.ts';
import { digitsOf, oneOf, withQuery } from './query.ts';

export const RANGES = ['1h', '6h', '24h', '3d', '7d', '30d'] as const;

export interface RangeQuery {
  readonly range: (typeof RANGES)[number];
}

export function overviewPath({ range }: RangeQuery): string {
  return withQuery(PATHS.overview, { range: range === '24h' ? '' : range });
}

export function readRangeQuery(search: string): RangeQuery {
  const given = new URLSearchParams(search).get('range');
  return { range: RANGES.find((known) => known === given) ?? '24h' };
}

export const STATISTICS_RANGES = [...RANGES, '90d', '1y'] as const;
export const METRICS = ['requests', 'traffic', 'bandwidth', 'hit_ratio'] as const;
export const COMPARISONS = ['', 'before', 'week'] as const;
export const MAX_COMPARED_DOMAINS = 20;

/** Unix seconds. */
export interface SpanQuery {
  readonly from: number;
  readonly to: number;
}

export interface StatisticsQuery {
  /** Ids, at most `MAX_COMPARED_DOMAINS`; none: all. */
  readonly domains: readonly string[];
  /** Whether each of the domains is shown by itself. */
  readonly isSplit: boolean;
  readonly metric: (typeof METRICS)[number];
  readonly range: (typeof STATISTICS_RANGES)[number] | SpanQuery;
  readonly compare: (typeof COMPARISONS)[number];
}

const MAX_SPAN_SECONDS = 366 * 86_400;

export function statisticsPath({ domains, isSplit, metric, range, compare }: StatisticsQuery): string {
  const when =
    typeof range === 'string'
      ? { range: range === '24h' ? '' : range }
      : { from: String(range.from), to: String(range.to) };
  return withQuery(PATHS.statistics, {
    domains: domains.join(','),
    split: isSplit ? '1' : '',
    metric: metric === 'requests' ? '' : metric,
    ...when,
    compare,
  });
}

/** A range that cannot be asked for is the last day. */
export function readStatisticsQuery(search: string): StatisticsQuery {
  const query = new URLSearchParams(search);
  const given = query.get('range');
  return {
    domains: idsOf(query.get('domains')),
    isSplit: query.get('split') === '1',
    metric: oneOf(METRICS, query.get('metric')),
    range: readSpan(query) ?? STATISTICS_RANGES.find((known) => known === given) ?? '24h',
    compare: oneOf(COMPARISONS, query.get('compare')),
  };
}

function idsOf(given: string | null): readonly string[] {
  const ids = (given ?? '').split(',').map(digitsOf);
  return [...new Set(ids.filter((id) => id !== ''))].slice(0, MAX_COMPARED_DOMAINS);
}

/** Whether the service gives statistics of such a span: it is not empty, and at most 366 days. */
export function isSpan({ from, to }: SpanQuery): boolean {
  return from > 0 && from < to && to - from <= MAX_SPAN_SECONDS;
}

/** `undefined`: there is none that can be asked for. */
export function readSpan(query: URLSearchParams): SpanQuery | undefined {
  const { from = null, to = null } = Object.fromEntries(query);
  const span = { from: Number(digitsOf(from)), to: Number(digitsOf(to)) };
  return isSpan(span) ? span : undefined;
}
