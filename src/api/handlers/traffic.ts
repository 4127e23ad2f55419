/** `/cdnlog/*` and `/stat/*`: log files of an account's domains, and sums of their traffic. */

import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import { listDomainIds } from '#db/tables/domains.ts';
import { listLogDays } from '#db/tables/log-parts.ts';
import { type Grain, listSums, listTop } from '#db/tables/statistics.ts';
import { DAY_MS, HOUR_MS } from '#lib/durations.ts';
import { logFileName } from '#logs/download.ts';
import { fillSums, grainStart } from '../wire/fill-sums.ts';
import { type AskedRange, timeRange } from '../wire/time-range.ts';
import type { LogFileView, SumsView } from '../wire/wire-traffic.ts';
import type { Call, Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';

const LOG_DEFAULT_MS = 30 * DAY_MS;
const TOP_DEFAULT_MS = DAY_MS;
const TOP_DEFAULT_LIMIT = 20;

/** What is shown when no time is asked for, and the most in one call. */
const SPANS: Readonly<Record<Grain, { readonly defaultMs: number; readonly maxDays: number }>> = {
  minute: { defaultMs: HOUR_MS, maxDays: 1 },
  hour: { defaultMs: DAY_MS, maxDays: 31 },
  day: { defaultMs: 30 * DAY_MS, maxDays: 366 },
};

interface AskedSums extends AskedRange {
  readonly name: string | undefined;
  readonly grain: Grain;
}

export const TRAFFIC_HANDLERS = {
  'log.list': async (call, { name, ...asked }) => {
    const domainIds = await findIds(call, name);
    const { from, to } = timeRange(asked, call.now, LOG_DEFAULT_MS);
    const span = { domainIds, firstDay: call.days.dayOf(from), lastDay: call.days.dayOf(to) };
    const files = await listLogDays(call.db.query, span);
    return {
      name,
      files: files.map(({ domainId, day, bytes }): LogFileView => {
        const fileName = logFileName(name, day, domainId === domainIds[0] ? undefined : domainId);
        const url = call.logUrl({ accountId: call.accountId, domainId, day, name: fileName }, call.now);
        return { name: fileName, bytes, url, day };
      }),
    };
  },

  'log.tail': async (call, { domainId, ...asked }) => {
    const { accountId } = await readOwnDomain(call, domainId);
    return call.tailUrl({ accountId, domainId, ...asked }, call.now);
  },

  'stat.traffic': (call, asked) => readSums(call, asked),
  'stat.requests': (call, asked) => readSums(call, asked),

  'stat.top': async (call, { name, kind, limit = TOP_DEFAULT_LIMIT, ...asked }) => {
    const domainIds = await findIds(call, name);
    const { from, to } = timeRange(asked, call.now, TOP_DEFAULT_MS);
    const begin = Math.floor(from / HOUR_MS) * HOUR_MS;
    return listTop(call.db.query, { domainIds, kind, from: begin, to: to + 1, limit });
  },
} satisfies { readonly [N in Exclude<TrafficRoute, ElsewhereRoute>]: Handler<N> };

type TrafficRoute = Extract<RouteName, `${'log' | 'stat'}.${string}`>;
type ElsewhereRoute = 'log.search' | 'stat.series' | 'stat.live' | 'stat.topDomains' | 'stat.bandwidth';

async function readSums(call: Call, { name, grain, ...asked }: AskedSums): Promise<SumsView> {
  const { defaultMs, maxDays } = SPANS[grain];
  const range = timeRange(asked, call.now, defaultMs);
  if (range.to - range.from > maxDays * DAY_MS) {
    throw new ServiceError('timeRangeTooLong', {
      interval: grain,
      span: { 'zh-CN': `${maxDays} 天`, en: maxDays === 1 ? 'a day' : `${maxDays} days` },
    });
  }
  const domainIds = await findIds(call, name);
  const { to } = range;
  const from = grainStart(range.from, grain, call.days);
  const rows = await listSums(call.db.query, { domainIds, grain, from, to: to + 1 });
  return { grain, ...fillSums(rows, { grain, from, to }, call.days) };
}

/** Finds domains that the caller may reach, deleted ones included. `undefined`: all. */
async function findIds({ db, accountId, domainIds }: Call, name: string | undefined): Promise<readonly number[]> {
  const ids = await listDomainIds(db.query, { accountId, domainIds, name });
  if (ids.length === 0 && name !== undefined) throw new ServiceError('domainNotFound', { domainId: name });
  return ids;
}
