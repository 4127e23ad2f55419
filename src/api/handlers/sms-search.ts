/** `sms.find`, `sms.getMessage` and `sms.statistics`. docs/decisions/0678, 0679 */
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Executor } from '#db/schema/schema.ts';
import { findSmsAppsById } from '#db/tables/sms/apps.ts';
import { listConnectors } from '#db/tables/sms/connectors.ts';
import { readMessageHistory } from '#db/tables/sms/message-history.ts';
import { type SlotSum, sumMessages } from '#db/tables/sms/message-sums.ts';
import { findMessages, isUnfiltered } from '#db/tables/sms/search.ts';
import { readMeanings } from '#db/tables/sms/status-words.ts';
import { DAY_MS } from '#lib/durations.ts';
import { timeLineOf } from '#model/sms-time-line.ts';
import type { MessageSum, MessageView, SumKey } from '../wire/wire-sms-search.ts';
import { findAppOrRefuse } from './find-sms-app.ts';
import type { Call, Handler } from './handler.ts';

const SUMS_DEFAULT_MS = 7 * DAY_MS;
const DEFAULT_KEYS: readonly SumKey[] = ['day', 'status'];

type SearchRoute = 'sms.find' | 'sms.getMessage' | 'sms.statistics';

export const SMS_SEARCH_HANDLERS = {
  'sms.find': async (call, { appKey, number, states, from, to, after, limit }) => {
    refuseReversed({ from, to });
    const search = { accountId: call.accountId, appId: await idOf(call, appKey), number, states, from, to };
    const find = (x: Executor) => findMessages(x, search, { after, limit });
    return isUnfiltered(search) ? await find(call.db.query) : await inTurn(call, find);
  },

  'sms.getMessage': async ({ db, accountId }, { sendid, number }): Promise<MessageView> => {
    const message = await readMessageHistory(db.query, { accountId, sendid, number });
    if (message === undefined) throw new ServiceError('messageNotFound', { sendid, number });
    const names = new Map((await listConnectors(db.query)).map(({ id, name }) => [id, name]));
    const meaningOf = await readMeanings(db.query);
    return {
      ...message,
      parts: message.parts.map((part) => ({
        ...part,
        meaning: meaningOf(part.connectorId, part.lastWord),
        events: timeLineOf(part, message.createdAt).map((event) => ({
          ...event,
          connector: names.get(event.connectorId ?? 0) ?? '',
        })),
      })),
    };
  },

  'sms.statistics': async (call, { appKey, from, to = call.now, keys = DEFAULT_KEYS }) => {
    const begin = from ?? to - SUMS_DEFAULT_MS;
    refuseReversed({ from: begin, to });
    const asked = { accountId: call.accountId, appId: await idOf(call, appKey), from: begin, to };
    const { sums, countedFrom } = await inTurn(call, (x) => sumMessages(x, asked));
    const list = await group(call, sums, keys);
    return { list, from: countedFrom ?? begin, to, isComplete: countedFrom === undefined };
  },
} satisfies { readonly [N in SearchRoute]: Handler<N> };

async function idOf(call: Call, appKey: string | undefined): Promise<number | undefined> {
  return appKey === undefined ? undefined : (await findAppOrRefuse(call.db.query, call, appKey)).id;
}

/** Long reads: one of an account at a time and few in all, beside whatever writes. */
async function inTurn<T>({ db, accountId, sms }: Call, work: (x: Executor) => Promise<T>): Promise<T> {
  const turn = await sms.searches.run(accountId, () => db.snapshot(work));
  if (turn === undefined) throw new ServiceError('tooManyRequests', { seconds: 1 });
  return turn.done;
}

interface AskedPeriod {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

export function refuseReversed({ from = 0, to = Number.POSITIVE_INFINITY }: AskedPeriod): void {
  if (from <= to) return;
  const expected = { 'zh-CN': '不晚于 to 的时间', en: 'a time that is not after `to`' };
  throw new ServiceError('fieldInvalid', { field: 'from', expected, found: String(from) });
}

async function group(
  { db, days }: Call,
  sums: readonly SlotSum[],
  keys: readonly SumKey[],
): Promise<readonly MessageSum[]> {
  const appIds = keys.includes('app') ? [...new Set(sums.map(({ appId }) => appId))] : [];
  const appKeys = new Map((await findSmsAppsById(db.query, appIds)).map(({ id, appKey }) => [id, appKey]));
  const groups = Map.groupBy(sums, ({ at, appId, state }) =>
    JSON.stringify([
      keys.includes('day') ? days.dayOf(at) : '',
      appKeys.get(appId) ?? '',
      keys.includes('status') ? state : '',
    ]),
  );
  return [...groups]
    .map(([key, own]): MessageSum => {
      // `as`: written above.
      const [day, appKey, state] = JSON.parse(key) as [string, string, MessageSum['state']];
      return { day, appKey, state, ...addAll(own) };
    })
    .sort((a, b) => b.day.localeCompare(a.day) || a.appKey.localeCompare(b.appKey) || a.state.localeCompare(b.state));
}

function addAll(sums: readonly SlotSum[]) {
  const total = (name: 'messages' | 'parts' | 'price') => sums.reduce((sum, { [name]: value }) => sum + value, 0);
  return { messages: total('messages'), parts: total('parts'), price: total('price') };
}
