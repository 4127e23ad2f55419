/** Sums of an account's messages by day, app and state, counted newest first and up to a limit. docs/decisions/0679 */
import { sql } from 'kysely';
import type { PartState } from '#model/sms-part.ts';
import type { Executor } from '../../schema/schema.ts';
import { beginningOf, messagesBehind, ORDER_SLACK_MS, type SearchPlace } from './search.ts';

/** Grain in which the database counts; every time zone's day is made of such pieces. */
const SLOT_MS = 900_000;

/** Messages that one query counts, and such queries in one call. */
const WINDOW = 5_000;
const MAX_WINDOWS = 40;

export interface SumsAsked {
  readonly accountId: number;
  /** `undefined`: all apps. */
  readonly appId: number | undefined;
  /** Epoch milliseconds, both inclusive. */
  readonly from: number;
  readonly to: number;
}

export interface SlotSum {
  /** Start of the slot. */
  readonly at: number;
  readonly appId: number;
  readonly state: PartState;
  /** Messages whose first part is in the state. */
  readonly messages: number;
  readonly parts: number;
  /** Price of the parts, as held at acceptance. */
  readonly price: number;
}

interface CountedSums {
  readonly sums: readonly SlotSum[];
  /** Acceptance of the oldest message that was counted, where older ones were not; absent: all were. */
  readonly countedFrom?: number;
}

export async function sumMessages(x: Executor, asked: SumsAsked): Promise<CountedSums> {
  const sums: SlotSum[] = [];
  let place = await beginningOf(x, asked);
  for (let windows = 0; place !== undefined && windows < MAX_WINDOWS; windows += 1) {
    const counted = await countWindow(x, asked, place);
    sums.push(...counted.sums);
    if (counted.end === undefined) return { sums };
    place = counted.end;
    if (counted.end.createdAt < asked.from - ORDER_SLACK_MS) return { sums };
    if (windows === MAX_WINDOWS - 1) return { sums, countedFrom: counted.end.createdAt };
  }
  return { sums };
}

interface CountedWindow {
  readonly sums: readonly SlotSum[];
  /** The last message; absent: there is none behind it. */
  readonly end?: SearchPlace & { readonly createdAt: number };
}

async function countWindow(
  x: Executor,
  { accountId, appId, from, to }: SumsAsked,
  place: SearchPlace,
): Promise<CountedWindow> {
  const { rows: ends } = await sql<SearchPlace & { readonly createdAt: number }>`
    select w.request_id as "requestId", w.id as "messageId", w.created_at as "createdAt"
    from (${messagesBehind(accountId, place, WINDOW)}) as w
    order by w.request_id, w.id limit 1 offset 0`.execute(x);
  const { rows } = await sql<Record<keyof SlotSum, unknown>>`
    select w.created_at / ${sql.lit(SLOT_MS)} as at, w.app_id as "appId", p.state as state, count(*) as parts,
      sum(case when p.n = 1 then 1 else 0 end) as messages, sum(w.price) as price
    from (${messagesBehind(accountId, place, WINDOW)}) as w join sms_part as p on p.message_id = w.id
    where w.created_at >= ${from} and w.created_at <= ${to} ${appId === undefined ? sql`` : sql`and w.app_id = ${appId}`}
    group by 1, 2, 3`.execute(x);
  return { sums: rows.map(toSum), ...(ends[0] !== undefined && { end: ends[0] }) };
}

/** PostgreSQL returns counts and sums as text. */
function toSum({ at, appId, state, messages, parts, price }: Record<keyof SlotSum, unknown>): SlotSum {
  return {
    at: Number(at) * SLOT_MS,
    appId: Number(appId),
    state: state as PartState, // nothing else is ever written
    messages: Number(messages),
    parts: Number(parts),
    price: Number(price),
  };
}
