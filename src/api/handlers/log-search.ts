/** `log.search`: the lines of the last 24 hours that control has. docs/decisions/0674 */
import { listPartsBefore } from '#db/tables/log-parts.ts';
import { DAY_MS, HOUR_MS } from '#lib/durations.ts';
import type { Call, Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';

const DEFAULT_LINES = 50;
/** Parts of one call. */
const MAX_PARTS = 100;

export const LOG_SEARCH_HANDLERS = {
  'log.search': async (call, { domainId, filter, after, limit = DEFAULT_LINES }) => {
    await readOwnDomain(call, domainId);
    const first = firstHour(call);
    const asked = { domainId, firstDay: first.day, before: after, limit: MAX_PARTS + 1 };
    const listed = await listPartsBefore(call.db.query, asked);
    const parts = listed.slice(0, MAX_PARTS).filter(({ day, key }) => day > first.day || hourOf(key) >= first.hour);
    const searched = await call.logSearches.run(call.accountId, { parts, filter, maxLines: limit });
    const isAll = listed.length <= MAX_PARTS && searched.last === parts.at(-1);
    const last = searched.last ?? listed.at(MAX_PARTS - 1);
    return { ...searched, next: isAll || last === undefined ? '' : `${last.day}.${last.position}` };
  },
} satisfies { readonly [N in 'log.search']: Handler<N> };

/** The day and the hour 24 hours ago, as the keys of parts name them. */
function firstHour({ now, days }: Call): { readonly day: string; readonly hour: string } {
  const at = now - DAY_MS;
  const day = days.dayOf(at);
  return { day, hour: String(Math.floor((at - days.startOf(day)) / HOUR_MS)).padStart(2, '0') };
}

function hourOf(key: string): string {
  return /^\d+\/[\d-]+\/(\d\d)\./.exec(key)?.[1] ?? '';
}
