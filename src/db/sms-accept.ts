/** What accepting messages reads and writes, many requests in one transaction: every statement takes them all at once. */
import { sql, type Transaction } from 'kysely';
import type { SmsKind } from '#model/sms-app.ts';
import { rowList } from './row-list.ts';
import type { Schema } from './schema.ts';
import { ids } from './sms-money.ts';

export interface RequestToStore {
  readonly sendid: string;
  readonly accountId: number;
  readonly appId: number;
  readonly kind: SmsKind;
  readonly smsType: number;
  readonly replayHash: string;
  readonly texts: readonly string[];
  readonly dueAt: number;
  readonly expireAt: number;
  readonly messages: readonly MessageToStore[];
}

/** One number. */
interface MessageToStore {
  /** E.164 with `+` */
  readonly destination: string;
  /** Of each part. */
  readonly price: number;
  /** Prefix of the route that it waits for. */
  readonly route: string;
  /** 0 to 255 */
  readonly reference: number;
  /** It is not sent and not paid. */
  readonly isOptedOut: boolean;
}

/** What earlier requests with these hashes were answered. */
export async function findSendids(
  trx: Transaction<Schema>,
  replayHashes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  // Not a join: for that PostgreSQL, which does not see how short the list is, reads the whole table.
  const { rows } = await sql<{ hash: string; sendid: string | null }>`
    select value ->> 0 as hash, (select r.sendid from sms_request as r where r.replay_hash = value ->> 0) as sendid
    from ${listOf(trx, replayHashes)}`.execute(trx);
  return new Map(rows.flatMap(({ hash, sendid }) => (sendid === null ? [] : [[hash, sendid]])));
}

export interface AccountNumber {
  readonly accountId: number;
  readonly number: string;
}

/** Which of these want no advertising, of the account or of anybody; as `optOutKey`. */
export async function findOptOuts(
  trx: Transaction<Schema>,
  asked: readonly AccountNumber[],
): Promise<ReadonlySet<string>> {
  if (asked.length === 0) return new Set();
  const rows = asked.map(({ accountId, number }) => [accountId, number]);
  const found = await sql<AccountNumber>`
    select cast(value ->> 0 as integer) as "accountId", value ->> 1 as number from ${rowList(trx, rows)}
    where exists (select 1 from sms_opt_out as o
      where o.number = value ->> 1 and o.account_id in (0, cast(value ->> 0 as integer)))`.execute(trx);
  return new Set(found.rows.map(optOutKey));
}

export function optOutKey({ accountId, number }: AccountNumber): string {
  return `${accountId} ${number}`;
}

/** Of the last long message to each of these numbers; a number without one is not in it. */
export async function findReferences(
  trx: Transaction<Schema>,
  destinations: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (destinations.length === 0) return new Map();
  const { rows } = await sql<{ destination: string; reference: number | null }>`
    select value ->> 0 as destination, (select m.reference from sms_message as m
      where m.destination = value ->> 0 and m.parts > 1 order by m.id desc limit 1) as reference
    from ${listOf(trx, destinations)}`.execute(trx);
  return new Map(rows.flatMap(({ destination, reference }) => (reference === null ? [] : [[destination, reference]])));
}

/** False, and nothing may be kept, when another process has stored one of them meanwhile. The balances are taken elsewhere. */
export async function storeRequests(
  trx: Transaction<Schema>,
  requests: readonly RequestToStore[],
  now: number,
): Promise<boolean> {
  if (requests.length === 0) return true;
  const requestIds = await insertRequests(trx, requests, now);
  if (requestIds.size < requests.length) return false;
  const messageIds = await insertMessages(trx, requests, requestIds, now);
  await insertParts(trx, requests, requestIds, messageIds, now);
  await sql`
    insert into sms_ledger (account_id, part_id, kind, amount, created_at)
      select m.account_id, p.id, 'hold', -m.price, cast(${now} as bigint)
      from sms_message as m join sms_part as p on p.message_id = m.id
      where m.id in ${ids(trx, [...messageIds.values()])} and p.state = 'queued'`.execute(trx);
  return true;
}

async function insertRequests(trx: Transaction<Schema>, requests: readonly RequestToStore[], now: number) {
  const values = requests.map((request) => [
    ...[request.sendid, request.accountId, request.appId, request.kind, request.smsType, now, request.replayHash],
  ]);
  const { rows } = await sql<{ id: number; sendid: string }>`
    insert into sms_request (sendid, account_id, app_id, kind, sms_type, created_at, replay_hash)
      select value ->> 0, cast(value ->> 1 as integer), cast(value ->> 2 as integer), value ->> 3,
        cast(value ->> 4 as integer), cast(value ->> 5 as bigint), value ->> 6 from ${rowList(trx, values)} where true
      on conflict (replay_hash) do nothing returning id, sendid`.execute(trx);
  return new Map(rows.map(({ id, sendid }) => [sendid, id]));
}

/** Ids by `messageKey`. */
async function insertMessages(
  trx: Transaction<Schema>,
  requests: readonly RequestToStore[],
  requestIds: ReadonlyMap<string, number>,
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const values = requests.flatMap((request) =>
    request.messages.map(({ destination, price, reference }) => [
      ...[requestIds.get(request.sendid) ?? 0, request.accountId, request.appId, request.kind, request.smsType],
      ...[destination, request.texts.length, price, reference, now],
    ]),
  );
  const { rows } = await sql<{ id: number; requestId: number; destination: string }>`
    insert into sms_message (request_id, account_id, app_id, kind, sms_type, destination, parts, price, reference, created_at)
      select cast(value ->> 0 as bigint), cast(value ->> 1 as integer), cast(value ->> 2 as integer), value ->> 3,
        cast(value ->> 4 as integer), value ->> 5, cast(value ->> 6 as integer), cast(value ->> 7 as bigint),
        cast(value ->> 8 as integer), cast(value ->> 9 as bigint) from ${rowList(trx, values)}
      returning id, request_id as "requestId", destination`.execute(trx);
  return new Map(rows.map(({ id, requestId, destination }) => [messageKey(requestId, destination), id]));
}

async function insertParts(
  trx: Transaction<Schema>,
  requests: readonly RequestToStore[],
  requestIds: ReadonlyMap<string, number>,
  messageIds: ReadonlyMap<string, number>,
  now: number,
): Promise<void> {
  const values = requests.flatMap((request) =>
    request.messages.flatMap(({ destination, route, isOptedOut }) => {
      const messageId = messageIds.get(messageKey(requestIds.get(request.sendid) ?? 0, destination)) ?? 0;
      const priority = request.kind === 'ordinary' ? 0 : 1;
      const start = isOptedOut ? ['rejected', now, 'optOut'] : ['queued', null, ''];
      return request.texts.map((text, index) => [
        ...[messageId, index + 1, text, route, priority, request.dueAt, request.expireAt],
        ...start,
      ]);
    }),
  );
  await sql`
    insert into sms_part (message_id, n, text, route, priority, due_at, expire_at, state, done_at, error, tries, sends)
      select cast(value ->> 0 as bigint), cast(value ->> 1 as integer), value ->> 2, value ->> 3,
        cast(value ->> 4 as integer), cast(value ->> 5 as bigint), cast(value ->> 6 as bigint), value ->> 7,
        cast(value ->> 8 as bigint), value ->> 9, 0, 0 from ${rowList(trx, values)}`.execute(trx);
}

function messageKey(requestId: number, destination: string): string {
  return `${requestId} ${destination}`;
}

function listOf(trx: Transaction<Schema>, values: readonly string[]) {
  return rowList(
    trx,
    values.map((value) => [value]),
  );
}
