/**
 * What accepting messages reads and writes, many requests in one transaction: every statement takes them all at once, and
 * they go to the database in two or three bundles. docs/decisions/0283
 */
import { sql, type Transaction } from 'kysely';
import type { SmsApp, SmsKind } from '#model/sms-app.ts';
import { type ColumnTypes, forEachRow } from './each-row.ts';
import { freeIds } from './engine.ts';
import { rowList } from './row-list.ts';
import type { Schema } from './schema.ts';
import { selectSmsAppsByKey, toApp } from './sms-apps.ts';
import { lockSmsBalances, type SmsPrice, selectSmsPrices, takeFromSmsBalances } from './sms-balance.ts';
import { type StoredRoute, selectRoutes, toRoutes } from './sms-connectors.ts';
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

const REQUEST = {
  ...({ id: 'bigint', sendid: 'text', account_id: 'integer', app_id: 'integer', kind: 'text' } as const),
  ...({ sms_type: 'integer', created_at: 'bigint', replay_hash: 'text' } as const),
};

function insertRequests(trx: Transaction<Schema>, requests: readonly RequestToStore[], now: number) {
  const rows = requests.map(({ id, sendid, accountId, appId, kind, smsType, replayHash }) => [
    ...[id, sendid, accountId, appId, kind, smsType, now, replayHash],
  ]);
  return insertInto(trx, 'sms_request', REQUEST, rows);
}

const MESSAGE = {
  ...({ id: 'bigint', request_id: 'bigint', account_id: 'integer', app_id: 'integer', kind: 'text' } as const),
  ...({ sms_type: 'integer', destination: 'text', parts: 'integer', price: 'bigint', reference: 'integer' } as const),
  created_at: 'bigint',
} as const;

function insertMessages(trx: Transaction<Schema>, requests: readonly RequestToStore[], now: number) {
  const rows = requests.flatMap((request) =>
    request.messages.map(({ id, destination, price, reference }) => [
      ...[id, request.id, request.accountId, request.appId, request.kind, request.smsType],
      ...[destination, request.texts.length, price, reference, now],
    ]),
  );
  return insertInto(trx, 'sms_message', MESSAGE, rows);
}

const PART = {
  ...({ message_id: 'bigint', n: 'integer', text: 'text', route: 'text', priority: 'integer' } as const),
  ...({ due_at: 'bigint', expire_at: 'bigint', state: 'text', done_at: 'bigint', error: 'text' } as const),
  ...({ tries: 'integer', sends: 'integer', account_id: 'integer' } as const),
};

function insertParts(trx: Transaction<Schema>, requests: readonly RequestToStore[], now: number) {
  const rows = requests.flatMap((request) =>
    request.messages.flatMap(({ id, route, isOptedOut }) => {
      const priority = request.kind === 'ordinary' ? 0 : 1;
      const start = isOptedOut ? ['rejected', now, 'optOut'] : ['queued', null, ''];
      return request.texts.map((text, index) => [
        ...[id, index + 1, text, route, priority, request.dueAt, request.expireAt],
        ...[...start, 0, 0, request.accountId],
      ]);
    }),
  );
  return insertInto(trx, 'sms_part', PART, rows);
}

/** Of the parts that are to be sent. */
function insertHolds(trx: Transaction<Schema>, requests: readonly RequestToStore[], now: number) {
  const rows = requests.flatMap(({ accountId, messages }) =>
    messages.filter(({ isOptedOut }) => !isOptedOut).map(({ id, price }) => [accountId, id, -price]),
  );
  const columns = { account_id: 'integer', message_id: 'bigint', amount: 'bigint' } as const;
  return forEachRow(trx, columns, rows, ({ v, andFrom }) => {
    return sql`
      insert into sms_ledger (account_id, part_id, kind, amount, created_at)
        select ${v.account_id}, p.id, 'hold', ${v.amount}, cast(${now} as bigint) from sms_part as p ${andFrom}
        where p.message_id = ${v.message_id}`;
  });
}

function insertInto(
  trx: Transaction<Schema>,
  table: string,
  columns: ColumnTypes,
  rows: readonly (readonly (string | number | null)[])[],
) {
  return forEachRow(trx, columns, rows, ({ v, from }) => {
    const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)));
    return sql`insert into ${sql.table(table)} (${names}) select ${sql.join(Object.values(v))} ${from}`;
  });
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
