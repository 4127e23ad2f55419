/** `log.search`: the lines of the last 24 hours that control has. docs/decisions/0674 */
import { listPartsBefore } from '#db/tables/log-parts.ts';
import { DAY_MS, HOUR_MS } from '#lib/durations.ts';
import { timeRange } from '../wire/time-range.ts';
import type { Call, Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';

const DEFAULT_LINES = 50;
/** Parts of one call. */
const MAX_PARTS = 100;

export const LOG_SEARCH_HANDLERS = {
  'log.search': async (call, { domainId, filter, after, limit = DEFAULT_LINES, ...asked }) => {
    await readOwnDomain(call, domainId);
    const isTimed = asked.from !== undefined || asked.to !== undefined;
    const range = timeRange(asked, call.now, DAY_MS);
    const first = hourOf(Math.max(range.from, call.now - DAY_MS), call);
    const last = hourOf(range.to + HOUR_MS, call); // an hour more: where clocks are changed, hours are counted differently
    const listed = await listPartsBefore(call.db.query, {
      domainId,
      firstDay: first.slice(0, DAY_LENGTH),
      before: after,
      limit: MAX_PARTS + 1,
    });
    const parts = listed.slice(0, MAX_PARTS).filter(({ key }) => {
      const hour = hourOfPart(key);
      return hour >= first && hour <= last;
    });
    const asks = { parts, filter, maxLines: limit, range: isTimed ? range : undefined };
    const searched = await call.logSearches.run(call.accountId, asks);
    const isAll = listed.length <= MAX_PARTS && searched.last === parts.at(-1);
    const place = searched.last ?? listed.at(MAX_PARTS - 1);
    return { ...searched, next: isAll || place === undefined ? '' : `${place.day}.${place.position}` };
  },
} satisfies { readonly [N in 'log.search']: Handler<N> };

const DAY_LENGTH = 'YYYY-MM-DD'.length;

/** `2026-01-31 07`, as the keys of parts name the hour. */
function hourOf(at: number, { days }: Call): string {
  const day = days.dayOf(at);
  return `${day} ${String(Math.floor((at - days.startOf(day)) / HOUR_MS)).padStart(2, '0')}`;
}

function hourOfPart(key: string): string {
  const [, day = '', hour = ''] = /^\d+\/([\d-]+)\/(\d\d)\./.exec(key) ?? [];
  return `${day} ${hour}`;
}
