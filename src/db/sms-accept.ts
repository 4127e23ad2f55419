/**
 * What accepting messages reads and writes, many requests in one transaction: every statement takes them all at once, and
 * they go to the database in two or three bundles. docs/decisions/0283
 */
import { sql, type Transaction } from 'kysely';
import type { SmsApp, SmsKind } from '#model/sms-app.ts';
import { freeIds } from './engine.ts';
import { rowList } from './row-list.ts';
import type { Schema } from './schema.ts';
import { selectSmsAppsByKey, toApp } from './sms-apps.ts';
import { lockSmsBalances, type SmsPrice, selectSmsPrices, takeFromSmsBalances } from './sms-balance.ts';
import { type StoredRoute, selectRoutes, toRoutes } from './sms-connectors.ts';
import { ids } from './sms-money.ts';
import { runTogether } from './together.ts';

export interface RequestToStore {
  /** One of `requestIds`. */
  readonly id: number;
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
  /** One of `messageIds`. */
  readonly id: number;
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

/** What is to be known of the requests of one transaction. */
export interface AcceptFacts {
  /** Whosever they are. */
  readonly apps: readonly SmsApp[];
  /** What an earlier request with the same hash was answered. */
  readonly sendids: ReadonlyMap<string, string>;
  readonly prices: readonly SmsPrice[];
  readonly routes: readonly StoredRoute[];
  /** By account, those that have one. Locked until the transaction ends. */
  readonly balances: ReadonlyMap<number, number>;
  readonly requestIds: readonly number[];
  readonly messageIds: readonly number[];
}

export interface AskedRequest {
  readonly accountId: number;
  readonly appKey: string;
  readonly replayHash: string;
}

/**
 * `numbers`: how many they have at most. The balances are locked first: two processes that are sent the same request have the
 * same account to lock, so the second sees what the first has stored.
 */
export async function readAcceptFacts(
  trx: Transaction<Schema>,
  asked: readonly AskedRequest[],
  numbers: number,
): Promise<AcceptFacts> {
  const [balances, apps, sendids, prices, routes, requestIds, messageIds] = await runTogether(trx, [
    lockSmsBalances(trx, unique(asked.map(({ accountId }) => accountId))),
    selectSmsAppsByKey(trx, unique(asked.map(({ appKey }) => appKey))),
    selectSendids(trx, unique(asked.map(({ replayHash }) => replayHash))),
    selectSmsPrices(),
    selectRoutes(),
    freeIds(trx, 'sms_request', asked.length),
    freeIds(trx, 'sms_message', numbers),
  ] as const);
  return {
    apps: apps.map(toApp),
    sendids: new Map(sendids.flatMap(({ hash, sendid }) => (sendid === null ? [] : [[hash, sendid]]))),
    prices,
    routes: toRoutes(routes),
    balances: new Map(balances.map(({ accountId, balance }) => [accountId, balance])),
    requestIds: requestIds.map(({ id }) => id),
    messageIds: messageIds.map(({ id }) => id),
  };
}

/** Not a join: for that PostgreSQL, which does not see how short the list is, reads the whole table. */
function selectSendids(trx: Transaction<Schema>, replayHashes: readonly string[]) {
  return sql<{ hash: string; sendid: string | null }>`
    select value ->> 0 as hash, (select r.sendid from sms_request as r where r.replay_hash = value ->> 0) as sendid
    from ${listOf(trx, replayHashes)}`;
}

export interface AccountNumber {
  readonly accountId: number;
  readonly number: string;
}

/** What is to be known of numbers: of few messages, most of them want nothing of it. */
export interface NumberFacts {
  /** Those that want no advertising, of the account or of anybody; as `optOutKey`. */
  readonly optOuts: ReadonlySet<string>;
  /** Of the last long message to each number; a number without one is not in it. */
  readonly references: ReadonlyMap<string, number>;
}

/** `advertised` and `long`: numbers that are to get advertising, and messages of several parts. */
export async function readNumberFacts(
  trx: Transaction<Schema>,
  advertised: readonly AccountNumber[],
  long: readonly string[],
): Promise<NumberFacts> {
  if (advertised.length === 0 && long.length === 0) return { optOuts: new Set(), references: new Map() };
  const [optOuts, references] = await runTogether(trx, [selectOptOuts(trx, advertised), selectReferences(trx, long)]);
  return {
    optOuts: new Set(optOuts.map(optOutKey)),
    references: new Map(
      references.flatMap(({ destination, reference }) => (reference === null ? [] : [[destination, reference]])),
    ),
  };
}

function selectOptOuts(trx: Transaction<Schema>, asked: readonly AccountNumber[]) {
  const rows = asked.map(({ accountId, number }) => [accountId, number]);
  return sql<AccountNumber>`
    select cast(value ->> 0 as integer) as "accountId", value ->> 1 as number from ${rowList(trx, rows)}
    where exists (select 1 from sms_opt_out as o
      where o.number = value ->> 1 and o.account_id in (0, cast(value ->> 0 as integer)))`;
}

export function optOutKey({ accountId, number }: AccountNumber): string {
  return `${accountId} ${number}`;
}

function selectReferences(trx: Transaction<Schema>, destinations: readonly string[]) {
  return sql<{ destination: string; reference: number | null }>`
    select value ->> 0 as destination, (select m.reference from sms_message as m
      where m.destination = value ->> 0 and m.parts > 1 order by m.id desc limit 1) as reference
    from ${listOf(trx, unique(destinations))}`;
}

/** `taken`: what leaves the balances of accounts, which the caller has locked. */
export async function storeRequests(
  trx: Transaction<Schema>,
  requests: readonly RequestToStore[],
  taken: ReadonlyMap<number, number>,
  now: number,
): Promise<void> {
  if (requests.length === 0) return;
  await runTogether(trx, [
    taken.size > 0 ? takeFromSmsBalances(trx, taken) : undefined,
    insertRequests(trx, requests, now),
    insertMessages(trx, requests, now),
    insertParts(trx, requests, now),
    insertHolds(trx, requests, now),
  ]);
}

function insertRequests(trx: Transaction<Schema>, requests: readonly RequestToStore[], now: number) {
  const values = requests.map((request) => [
    ...[request.id, request.sendid, request.accountId, request.appId, request.kind, request.smsType, now],
    request.replayHash,
  ]);
  return sql`
    insert into sms_request (id, sendid, account_id, app_id, kind, sms_type, created_at, replay_hash)
      select cast(value ->> 0 as bigint), value ->> 1, cast(value ->> 2 as integer), cast(value ->> 3 as integer),
        value ->> 4, cast(value ->> 5 as integer), cast(value ->> 6 as bigint), value ->> 7 from ${rowList(trx, values)}`;
}

function insertMessages(trx: Transaction<Schema>, requests: readonly RequestToStore[], now: number) {
  const values = requests.flatMap((request) =>
    request.messages.map(({ id, destination, price, reference }) => [
      ...[id, request.id, request.accountId, request.appId, request.kind, request.smsType],
      ...[destination, request.texts.length, price, reference, now],
    ]),
  );
  return sql`
    insert into sms_message (id, request_id, account_id, app_id, kind, sms_type, destination, parts, price, reference, created_at)
      select cast(value ->> 0 as bigint), cast(value ->> 1 as bigint), cast(value ->> 2 as integer),
        cast(value ->> 3 as integer), value ->> 4, cast(value ->> 5 as integer), value ->> 6,
        cast(value ->> 7 as integer), cast(value ->> 8 as bigint), cast(value ->> 9 as integer),
        cast(value ->> 10 as bigint) from ${rowList(trx, values)}`;
}

function insertParts(trx: Transaction<Schema>, requests: readonly RequestToStore[], now: number) {
  const values = requests.flatMap((request) =>
    request.messages.flatMap(({ id, route, isOptedOut }) => {
      const priority = request.kind === 'ordinary' ? 0 : 1;
      const start = isOptedOut ? ['rejected', now, 'optOut'] : ['queued', null, ''];
      return request.texts.map((text, index) => [
        ...[id, index + 1, text, route, priority, request.dueAt, request.expireAt],
        ...start,
      ]);
    }),
  );
  return sql`
    insert into sms_part (message_id, n, text, route, priority, due_at, expire_at, state, done_at, error, tries, sends)
      select cast(value ->> 0 as bigint), cast(value ->> 1 as integer), value ->> 2, value ->> 3,
        cast(value ->> 4 as integer), cast(value ->> 5 as bigint), cast(value ->> 6 as bigint), value ->> 7,
        cast(value ->> 8 as bigint), value ->> 9, 0, 0 from ${rowList(trx, values)}`;
}

function insertHolds(trx: Transaction<Schema>, requests: readonly RequestToStore[], now: number) {
  const messageIds = requests.flatMap(({ messages }) => messages.map(({ id }) => id));
  return sql`
    insert into sms_ledger (account_id, part_id, kind, amount, created_at)
      select m.account_id, p.id, 'hold', -m.price, cast(${now} as bigint)
      from sms_message as m join sms_part as p on p.message_id = m.id
      where m.id in ${ids(trx, messageIds)} and p.state = 'queued'`;
}

function listOf(trx: Transaction<Schema>, values: readonly string[]) {
  return rowList(
    trx,
    values.map((value) => [value]),
  );
}

function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}
