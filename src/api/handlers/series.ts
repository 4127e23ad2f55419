/** Statistics as charts show them. docs/decisions/0673 */
import type { SERIES_METRICS } from '#contract/domains/series-operations.ts';
import { MAX_POINTS } from '#contract/domains/series-operations.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import { listAccountSums } from '#db/tables/account-sums.ts';
import { listDomainIds } from '#db/tables/domains.ts';
import { type Grain, listSums, type Sums } from '#db/tables/statistics.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/durations.ts';
import { STEP_MS } from '#logs/recent-counts.ts';
import { fillSums, grainStart, instantsOf } from '../wire/fill-sums.ts';
import { timeRange } from '../wire/time-range.ts';
import type { AskedSeries, LiveView, SeriesView, SumsAt } from '../wire/wire-series.ts';
import type { Call, Handler } from './handler.ts';
import { readOwnDomain, readOwnDomains } from './own-domain.ts';

const DEFAULT_MS = DAY_MS;
const DEFAULT_POINTS = 300;
const LIVE_MINUTES = 6;
const DEFAULT_TOP = 20;
/** Edges report within half a minute; some time more for those that are slow. */
const REPORTED_MS = MINUTE_MS;
const SIZES: Readonly<Record<Grain, number>> = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS };
const GRAINS: readonly Grain[] = ['minute', 'hour', 'day'];

/** A series of sums before its metrics are taken from it. */
interface Source {
  readonly domainIds: readonly number[] | undefined;
  readonly domainId: number | undefined;
  readonly name: string;
}

export const SERIES_HANDLERS = {
  'stat.series': async (call, asked): Promise<SeriesView> => {
    const range = timeRange(asked, call.now, DEFAULT_MS);
    const grain = asked.grain ?? grainFor(range.to - range.from, asked.points ?? DEFAULT_POINTS);
    const points = Math.ceil((range.to - range.from) / SIZES[grain]) + 1;
    if (points > MAX_POINTS) throw new ServiceError('seriesTooLong', { points, limit: MAX_POINTS });
    const from = grainStart(range.from, grain, call.days);
    const times = instantsOf({ grain, from, to: range.to }, call.days);
    const earlier = asked.shiftMs === undefined ? undefined : shifted(times, asked.shiftMs, grain, call);
    const metrics = asked.by === 'status' ? STATUSES : asked.metrics;
    const series: SeriesView['series'][number][] = [];
    for (const source of await sourcesOf(call, asked)) {
      const now = await readAt(call, source, grain, times);
      const before = earlier && (await readAt(call, source, grain, earlier));
      for (const metric of metrics) series.push({ ...source, metric, now, before });
    }
    return { grain, from, to: range.to, completeUntil: call.now - REPORTED_MS, times, series };
  },

  'stat.live': async (call, { domainId }): Promise<LiveView> => {
    if (domainId !== undefined) await readOwnDomain(call, domainId);
    const watched = domainId === undefined ? await listDomainIds(call.db.query, call) : [domainId];
    const live = await call.liveTraffic.get(watched, call.now);
    if (live !== undefined) {
      const { list, until, missing } = live;
      return { stepMs: STEP_MS, completeUntil: until, missingEdges: missing.length, list };
    }
    const to = call.now;
    const from = grainStart(to - (LIVE_MINUTES - 1) * MINUTE_MS, 'minute', call.days);
    const domainIds = domainId === undefined ? call.domainIds : [domainId];
    const rows = await readSums(call, { domainIds, grain: 'minute', from, to: to + 1 });
    const { list } = fillSums(rows, { grain: 'minute', from, to }, call.days);
    return { stepMs: MINUTE_MS, completeUntil: to - REPORTED_MS, missingEdges: 0, list: list.map(toLiveSums) };
  },

  'stat.topDomains': async ({ db, trafficRanks, accountId, domainIds, now }, { span, sort, limit = DEFAULT_TOP }) => {
    const { countedAt, domains } = await trafficRanks.get(db, accountId, span, now);
    const reached = [...domains.values()].filter(({ domainId }) => domainIds?.includes(domainId) ?? true);
    const sorted = reached.sort((one, other) => other[sort] - one[sort] || one.domainId - other.domainId);
    return { countedAt, domains: sorted.slice(0, limit) };
  },
} satisfies { readonly [N in 'stat.series' | 'stat.live' | 'stat.topDomains']: Handler<N> };

function toLiveSums({ at, requests, hits, bytes_out, status_4xx, status_5xx }: Sums & { readonly at: number }) {
  return { at, requests, hits, bytesOut: bytes_out, status4xx: status_4xx, status5xx: status_5xx };
}

const STATUSES: readonly (typeof SERIES_METRICS)[number][] = ['status_2xx', 'status_3xx', 'status_4xx', 'status_5xx'];

/** The finest grain with at most so many points; days, if none has. */
function grainFor(spanMs: number, points: number): Grain {
  return GRAINS.find((grain) => spanMs / SIZES[grain] + 1 <= points) ?? 'day';
}

function shifted(times: readonly number[], shiftMs: number, grain: Grain, { days }: Call): readonly number[] {
  return times.map((at) => grainStart(at - shiftMs, grain, days));
}

async function sourcesOf(call: Call, { domainIds, by }: AskedSeries): Promise<readonly Source[]> {
  if (domainIds === undefined) return [{ domainIds: call.domainIds, domainId: undefined, name: '' }];
  const found = await readOwnDomains(call, domainIds);
  if (by !== 'domain') return [{ domainIds, domainId: undefined, name: '' }];
  return found.map(({ id, name }) => ({ domainIds: [id], domainId: id, name }));
}

/** Sums at these times, in their order; `undefined` where there was no traffic. */
async function readAt(
  call: Call,
  { domainIds }: Source,
  grain: Grain,
  times: readonly number[],
): Promise<readonly SumsAt[]> {
  const rows = await readSums(call, { domainIds, grain, from: times[0] ?? 0, to: (times.at(-1) ?? 0) + 1 });
  const known = new Map(rows.map((row) => [row.at, row]));
  return times.map((at) => known.get(at));
}

/** `domainIds` absent: all of the account. */
async function readSums(
  { db, accountId }: Call,
  { domainIds, ...span }: { domainIds: readonly number[] | undefined; grain: Grain; from: number; to: number },
) {
  if (domainIds === undefined) return await listAccountSums(db.query, { accountId, ...span });
  return await listSums(db.query, { domainIds, ...span });
}
