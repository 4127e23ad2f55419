/**
 * Searches an account's messages, newest first, in windows of bounded size, with no index that sending would have to
 * write. docs/decisions/0678
 */
import { type RawBuilder, sql } from 'kysely';
import type { SmsKind } from '#model/sms-app.ts';
import { DECIDING_STATES, type PartState } from '#model/sms-part.ts';
import type { Executor } from '../../schema/schema.ts';

/** A message in the order of a search; it continues with what lies behind. */
export interface SearchPlace {
  readonly requestId: number;
  readonly messageId: number;
}

export interface MessageSearch {
  readonly accountId: number;
  /** `undefined`: all apps. */
  readonly appId: number | undefined;
  /** E.164 with `+`; `undefined`: all numbers. */
  readonly number: string | undefined;
  /** States of messages; `undefined`: all. */
  readonly states: readonly PartState[] | undefined;
  /** Acceptance in epoch milliseconds, both inclusive; `undefined`: any. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

interface FoundMessage extends SearchPlace {
  readonly sendid: string;
  readonly appKey: string;
  readonly destination: string;
  readonly kind: SmsKind;
  readonly state: PartState;
  readonly parts: number;
  /** Price of each part, as held at acceptance. */
  readonly price: number;
  readonly createdAt: number;
}

export interface MessagePage {
  readonly list: readonly FoundMessage[];
  /** Where the search goes on; absent: everything has been looked at. */
  readonly next?: SearchPlace;
  /** Acceptance of the last message that was looked at; absent: there is none, or the search is over. */
  readonly searchedUntil?: number;
}

/** Messages that one query looks at, and such queries in one search. */
const WINDOW = 1_000;
const MAX_WINDOWS = 20;

/** Ids are in order of time but for transactions of several controls at once, whose clocks may differ. */
export const ORDER_SLACK_MS = 60_000;

export async function findMessages(
  x: Executor,
  search: MessageSearch,
  { after, limit }: { readonly after: SearchPlace | undefined; readonly limit: number },
): Promise<MessagePage> {
  const size = isUnfiltered(search) ? limit : WINDOW;
  const list: SearchedMessage[] = [];
  let place = after ?? (await beginningOf(x, search));
  for (let windows = 1; place !== undefined; windows += 1) {
    const rows = await readWindow(x, search, place, size);
    for (const row of rows) {
      if (row.createdAt < (search.from ?? 0) - ORDER_SLACK_MS) return { list: await withNames(x, list) };
      if (fits(row, search)) list.push(row);
      if (list.length === limit) return await unfinished(x, list, row);
    }
    const last = rows.length < size ? undefined : rows.at(-1);
    if (last !== undefined && windows === MAX_WINDOWS) return await unfinished(x, list, last);
    place = last;
  }
  return { list: await withNames(x, list) };
}

/** Whether every message of the account fits, so that one small query is enough. */
export function isUnfiltered({ accountId: _, ...filters }: MessageSearch): boolean {
  return Object.values(filters).every((filter) => filter === undefined);
}

async function unfinished(x: Executor, list: readonly SearchedMessage[], last: SearchedMessage): Promise<MessagePage> {
  const { requestId, messageId, createdAt } = last;
  return { list: await withNames(x, list), next: { requestId, messageId }, searchedUntil: createdAt };
}

const LAST: SearchPlace = { requestId: Number.MAX_SAFE_INTEGER, messageId: Number.MAX_SAFE_INTEGER };

/** The place before the first message that can fit; `undefined`: there is none. */
export async function beginningOf(
  x: Executor,
  { accountId, to }: Pick<MessageSearch, 'accountId' | 'to'>,
): Promise<SearchPlace | undefined> {
  if (to === undefined) return LAST;
  const request = await findLastRequest(x, accountId, to + ORDER_SLACK_MS);
  if (request === undefined) return undefined;
  const { rows } = await sql<{ id: number | null }>`
    select max(id) as id from sms_message where request_id = ${request}`.execute(x);
  const messageId = Number(rows[0]?.id ?? 0) + 1;
  return { requestId: request, messageId };
}

/** Finds the newest request of the account that was accepted until `at`, by halving the range of ids. */
async function findLastRequest(x: Executor, accountId: number, at: number): Promise<number | undefined> {
  const readUntil = async (id: number) => {
    const { rows } = await sql<{ id: number; createdAt: number }>`
      select id as id, created_at as "createdAt" from sms_request
      where account_id = ${accountId} and id <= ${id} order by id desc limit 1`.execute(x);
    return rows[0];
  };
  let found: number | undefined;
  let [low, high] = [0, (await readUntil(Number.MAX_SAFE_INTEGER))?.id ?? 0];
  while (low < high) {
    const row = await readUntil(Math.ceil((low + high) / 2));
    if (row !== undefined && row.createdAt > at) {
      high = row.id - 1;
      continue;
    }
    if (row !== undefined && row.id > low) found = row.id;
    low = Math.ceil((low + high) / 2);
  }
  return found;
}

interface SearchedMessage extends Omit<FoundMessage, 'sendid' | 'appKey'> {
  readonly accountId: number;
  readonly appId: number;
}

function fits(
  { accountId, appId, state, createdAt }: SearchedMessage,
  { accountId: own, appId: ownApp, states, from = 0, to = Number.POSITIVE_INFINITY }: MessageSearch,
): boolean {
  const isOwn = accountId === own && (ownApp === undefined || appId === ownApp);
  return isOwn && (states === undefined || states.includes(state)) && createdAt >= from && createdAt <= to;
}

async function readWindow(
  x: Executor,
  search: MessageSearch,
  place: SearchPlace,
  size: number,
): Promise<readonly SearchedMessage[]> {
  const { rows } = await sql<Omit<SearchedMessage, 'state'> & { readonly rank: number }>`
    select w.id as "messageId", w.request_id as "requestId", w.account_id as "accountId", w.app_id as "appId",
      w.destination as destination, w.kind as kind, w.parts as parts, w.price as price, w.created_at as "createdAt",
      (select min(${RANK}) from sms_part as p where p.message_id = w.id) as rank
    from (${windowOf(search, place, size)}) as w
    order by ${isById(search) ? sql`` : sql`w.request_id desc,`} w.id desc`.execute(x);
  return rows.map(({ rank, ...row }) => ({ ...row, state: DECIDING_STATES[rank] ?? 'delivered' }));
}

/** Position of a part's state among those that decide a message. */
const RANK = sql`case p.state ${sql.join(
  DECIDING_STATES.map((state, rank) => sql`when ${sql.lit(state)} then ${sql.lit(rank)}`),
  sql` `,
)} end`;

/** States that few parts have, and that an index finds: it is written only where sending goes wrong. */
const TROUBLE = ['uncertain', 'failed', 'expired', 'unknown', 'rejected'] as const satisfies readonly PartState[];

/** Whether the messages are found by an index that has them in order of their own ids. */
function isById({ number, states }: MessageSearch): boolean {
  return number !== undefined || isTrouble(states);
}

function isTrouble(states: MessageSearch['states']): boolean {
  return states?.every((state) => TROUBLE.some((known) => known === state)) === true;
}

function windowOf({ accountId, number, states }: MessageSearch, place: SearchPlace, size: number): RawBuilder<unknown> {
  if (number !== undefined)
    return sql`select m.* from sms_message as m where m.destination = ${number} and m.id < ${place.messageId}
      order by m.id desc limit ${size}`;
  // The condition is that of the index, word for word.
  if (isTrouble(states))
    return sql`select m.* from (
        select distinct message_id from sms_part where account_id = ${accountId}
          and state in (${sql.join(TROUBLE.map((state) => sql.lit(state)))}) and message_id < ${place.messageId}
        order by message_id desc limit ${size}) as t
      join sms_message as m on m.id = t.message_id`;
  return messagesBehind(accountId, place, size);
}

/** The messages of an account behind a place. The cross join keeps SQLite from sorting them: requests come first. */
export function messagesBehind(
  accountId: number,
  { requestId, messageId }: SearchPlace,
  size: number,
): RawBuilder<unknown> {
  return sql`select m.* from sms_request as r cross join sms_message as m
    where m.request_id = r.id and r.account_id = ${accountId} and r.id <= ${requestId}
      and (r.id < ${requestId} or m.id < ${messageId})
    order by r.id desc, m.id desc limit ${size}`;
}

async function withNames(x: Executor, found: readonly SearchedMessage[]): Promise<readonly FoundMessage[]> {
  if (found.length === 0) return [];
  const requestIds = [...new Set(found.map(({ requestId }) => requestId))];
  const rows = await x
    .selectFrom('sms_request as r')
    .innerJoin('sms_app as a', 'a.id', 'r.app_id')
    .select(['r.id', 'r.sendid', 'a.app_key as appKey'])
    .where('r.id', 'in', requestIds)
    .execute();
  const names = new Map(rows.map(({ id, ...name }) => [id, name]));
  return found.flatMap(({ accountId: _, appId: __, ...message }) => {
    const name = names.get(message.requestId);
    return name === undefined ? [] : [{ ...message, ...name }]; // a request may be deleted meanwhile
  });
}
