/** Series of statistics on the wire. Used by `wire.ts` and its handlers only. */
import { type SERIES_METRICS, SERIES_OPERATIONS } from '#contract/domains/series-operations.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { DomainTraffic } from '#db/tables/domain-sums.ts';
import type { Grain, Sums } from '#db/tables/statistics.ts';
import type { LiveSums } from '#logs/live-answer.ts';

const DOMAIN_IDS = SERIES_OPERATIONS['stat.series'].request.fields.domain_ids;

type Metric = (typeof SERIES_METRICS)[number];

/** `undefined`: there was no traffic. */
export type SumsAt = Sums | undefined;

export interface SeriesView {
  readonly grain: Grain;
  readonly from: number;
  readonly to: number;
  readonly completeUntil: number;
  readonly times: readonly number[];
  readonly series: readonly {
    readonly domainId: number | undefined;
    readonly name: string;
    readonly metric: Metric;
    /** One for each of `times`. */
    readonly now: readonly SumsAt[];
    readonly before: readonly SumsAt[] | undefined;
  }[];
}

export interface LiveView {
  readonly stepMs: number;
  readonly completeUntil: number;
  /** Number of edges whose traffic is not in it. */
  readonly missingEdges: number;
  readonly list: readonly (LiveSums & { readonly at: number })[];
}

export type AskedSeries = ReturnType<typeof readSeries>;

export const READ_SERIES = {
  'stat.series': readSeries,
  'stat.live': ({ domain_id }: RequestOf<'stat.live'>) => ({ domainId: domain_id }),
  'stat.topDomains': ({ span = '24h', sort = 'bytes_out', limit }: RequestOf<'stat.topDomains'>) => ({
    span,
    sort: sort === 'requests' ? ('requests' as const) : ('bytesOut' as const),
    limit,
  }),
};

function readSeries(request: RequestOf<'stat.series'>) {
  const { domain_ids, metrics, interval, points, starttime, endtime, shift, by = 'none' } = request;
  if (by === 'domain' && domain_ids === undefined)
    throw new ServiceError('fieldMissing', { field: 'domain_ids', expected: DOMAIN_IDS.expects });
  return {
    domainIds: domain_ids,
    metrics,
    grain: interval,
    points,
    from: starttime,
    to: endtime,
    shiftMs: shift === undefined ? undefined : shift * 1000,
    by,
  };
}

export const WRITE_SERIES = {
  'stat.series': (view: SeriesView): DataOf<'stat.series'> => ({
    interval: view.grain,
    from: view.from,
    to: view.to,
    complete_until: view.completeUntil,
    times: [...view.times],
    series: view.series.map(({ domainId, name, metric, now, before }) => ({
      domain_id: domainId === undefined ? '' : String(domainId),
      domain_name: name,
      metric,
      values: now.map((sums) => metricOf(sums, metric)),
      ...(before !== undefined && { before: before.map((sums) => metricOf(sums, metric)) }),
    })),
  }),
  'stat.live': ({ stepMs, completeUntil, missingEdges, list }: LiveView): DataOf<'stat.live'> => ({
    interval_seconds: stepMs / 1000,
    complete_until: completeUntil,
    missing_edges: missingEdges,
    list: list.map(({ at, requests, hits, bytesOut, status4xx, status5xx }) => {
      return { at, requests, hits, bytes_out: bytesOut, status_4xx: status4xx, status_5xx: status5xx };
    }),
  }),
  'stat.topDomains': ({
    countedAt,
    domains,
  }: {
    readonly countedAt: number;
    readonly domains: readonly DomainTraffic[];
  }): DataOf<'stat.topDomains'> => ({
    counted_at: countedAt,
    list: domains.map(({ domainId, name, requests, bytesOut }) => {
      return { domain_id: String(domainId), domain_name: name, requests, bytes_out: bytesOut };
    }),
  }),
};

function metricOf(sums: SumsAt, metric: Metric): number | null {
  if (metric === 'hit_ratio') return ratioOf(sums?.hits, sums?.requests);
  if (metric === 'byte_hit_ratio') return ratioOf(sums?.hit_bytes, sums?.bytes_out);
  return sums?.[metric] ?? 0;
}

/** Four digits behind the point; `null` of nothing. */
export function ratioOf(part = 0, whole = 0): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000;
}
