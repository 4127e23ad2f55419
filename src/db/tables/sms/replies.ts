/**
 * Replies from phones. A reply belongs to the app that last wrote to its number. A refusal word opts the number out.
 */
import { sql, type Transaction } from 'kysely';
import type { Executor, Schema } from '../../schema/schema.ts';
import { rowList } from '../../statements/lists.ts';
import { rejectOptedOut } from './sweep.ts';
import type { SmsPage } from './views.ts';

export interface ReceivedReply {
  readonly connectorId: number;
  /** E.164 with `+` if it can be parsed. */
  readonly origin: string;
  readonly text: string;
  /** The carrier's data coding; present if `text` is not text but `hex:` and octets. */
  readonly coding?: number;
  /** The sender opts out of advertising. */
  readonly isOptOut: boolean;
  /** Absent: the reply is not split. */
  readonly piece?: ReplyPiece;
}

/** Position in a long reply, whose parts share one reference. */
interface ReplyPiece {
  readonly reference: number;
  /** Number of the part, from 1. */
  readonly part: number;
  readonly parts: number;
}

export interface StoredReply extends ReceivedReply {
  /** Absent if no account has written to that number. */
  readonly appId: number | undefined;
  readonly accountId: number | undefined;
}

export interface RepliesStored {
  readonly replies: readonly StoredReply[];
  /** Parts that were waiting for numbers that opted out. */
  readonly endedParts: readonly number[];
}

export async function storeReplies(
  trx: Transaction<Schema>,
  received: readonly ReceivedReply[],
  now: number,
): Promise<RepliesStored> {
  if (received.length === 0) return { replies: [], endedParts: [] };
  const lastOf = await findLastWriters(trx, [...new Set(received.map(({ origin }) => origin))]);
  const replies = received.map((reply) => {
    const { appId, accountId } = lastOf.get(reply.origin) ?? {};
    return { ...reply, appId, accountId };
  });
  // By number, since a number may occur repeatedly; it determines the account.
  const optOuts = new Map(
    replies.flatMap(({ origin: number, isOptOut, accountId }) =>
      isOptOut && accountId !== undefined ? [[number, { accountId, number }]] : [],
    ),
  );
  await insertOptOuts(trx, [...optOuts.values()], now);
  await insertReplies(trx, replies, now);
  return { replies, endedParts: await rejectOptedOut(trx, [...optOuts.values()], now) };
}

interface Writer {
  readonly appId: number;
  readonly accountId: number;
}

/** Finds the account that last wrote to each of these numbers, if any. */
async function findLastWriters(
  trx: Transaction<Schema>,
  numbers: readonly string[],
): Promise<ReadonlyMap<string, Writer>> {
  const list = rowList(
    trx,
    numbers.map((number) => [number]),
  );
  const { rows } = await sql<Writer & { readonly number: string }>`
    select m.destination as number, m.app_id as "appId", m.account_id as "accountId" from sms_message as m
    where m.id in (select (select max(o.id) from sms_message as o where o.destination = value ->> 0) from ${list})`.execute(
    trx,
  );
  return new Map(rows.map(({ number, ...writer }) => [number, writer]));
}

async function insertReplies(trx: Transaction<Schema>, replies: readonly StoredReply[], now: number): Promise<void> {
  const rows = replies.map(({ connectorId, appId, accountId, origin, text, piece, coding }) => [
    ...[connectorId, appId ?? null, accountId ?? null, origin, text, now],
    ...[piece?.reference ?? null, piece?.part ?? null, piece?.parts ?? null, coding ?? null],
  ]);
  await sql`
    insert into sms_reply (connector_id, app_id, account_id, origin, text, received_at, reference, part, parts, coding)
      select cast(value ->> 0 as integer), cast(value ->> 1 as integer), cast(value ->> 2 as integer), value ->> 3,
        value ->> 4, cast(value ->> 5 as bigint), cast(value ->> 6 as integer), cast(value ->> 7 as integer),
        cast(value ->> 8 as integer), cast(value ->> 9 as integer) from ${rowList(trx, rows)}`.execute(trx);
}

export interface ReplyView {
  readonly id: number;
  readonly appKey: string;
  readonly origin: string;
  readonly text: string;
  readonly receivedAt: number;
  readonly piece: ReplyPiece | undefined;
  /** See `ReceivedReply`. */
  readonly coding: number | undefined;
}

export interface ReplySearch extends SmsPage {
  /** E.164 with `+`; `undefined`: all. */
  readonly number: string | undefined;
  /** Arrival in epoch milliseconds, both inclusive; `undefined`: any. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** Replies that one query looks at. */
const WINDOW = 5_000;

/**
 * Lists replies, newest first; `before`: those with a lower id. Replies without an account are not listed. `next` is
 * the `before` of the next page; absent: there is none.
 */
export async function listSmsReplies(
  x: Executor,
  { accountId, appId, number, from = 0, to = Number.MAX_SAFE_INTEGER, before, limit }: ReplySearch,
): Promise<{ readonly list: readonly ReplyView[]; readonly next?: number }> {
  const own = x
    .selectFrom('sms_reply')
    .where('account_id', '=', accountId)
    .$if(appId !== undefined, (query) => query.where('app_id', '=', appId ?? 0))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
    .orderBy('id', 'desc');
  const rows = await x
    .selectFrom(own.selectAll().limit(WINDOW).as('r'))
    .innerJoin('sms_app as a', 'a.id', 'r.app_id')
    .select(['r.id', 'a.app_key as appKey', 'r.origin', 'r.text', 'r.received_at as receivedAt'])
    .select(['r.reference', 'r.part', 'r.parts', 'r.coding'])
    .where('r.received_at', '>=', from)
    .where('r.received_at', '<=', to)
    .$if(number !== undefined, (query) => query.where('r.origin', '=', number ?? ''))
    .orderBy('r.id', 'desc')
    .limit(limit)
    .execute();
  const list = rows.map(toReplyView);
  const last =
    rows.length === limit
      ? rows.at(-1)
      : await own
          .select('id')
          .offset(WINDOW - 1)
          .limit(1)
          .executeTakeFirst();
  return { list, ...(last !== undefined && { next: last.id }) };
}

interface ReplyRow extends Omit<ReplyView, 'piece' | 'coding'> {
  readonly reference: number | null;
  readonly part: number | null;
  readonly parts: number | null;
  readonly coding: number | null;
}

function toReplyView({ reference, part, parts, coding, ...row }: ReplyRow): ReplyView {
  return {
    ...row,
    coding: coding ?? undefined,
    piece: reference === null || part === null || parts === null ? undefined : { reference, part, parts },
  };
}

/** Adds opt-outs; existing ones are kept. `accountId` 0: all accounts. */
export async function insertOptOuts(
  trx: Transaction<Schema>,
  optOuts: readonly { readonly accountId: number; readonly number: string }[],
  now: number,
): Promise<void> {
  if (optOuts.length === 0) return;
  const rows = optOuts.map(({ accountId, number }) => [accountId, number]);
  await sql`
    insert into sms_opt_out (account_id, number, created_at)
      select cast(value ->> 0 as integer), value ->> 1, cast(${now} as bigint) from ${rowList(trx, rows)} where true
      on conflict do nothing`.execute(trx);
}
