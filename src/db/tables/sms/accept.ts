/**
 * Reads and writes for accepting messages, many requests in one transaction. Each statement covers all requests, in two
 * or three batches. docs/decisions/0511
 */
import { sql, type Transaction } from 'kysely';
import { settleAll } from '#lib/settle-all.ts';
import type { SmsApp, SmsKind } from '#model/sms-app.ts';
import type { RowValues } from '../../engines/sqlite/messages.ts';
import type { Schema } from '../../schema/schema.ts';
import { readBatch, runBatch, writeBatch } from '../../statements/batch.ts';
import { insertRows, statement } from '../../statements/statement.ts';
import { selectSmsAppsByKey, toApp } from './apps.ts';
import { lockSmsBalances, type SmsPrice, selectSmsPrices, takeFromSmsBalances } from './balance.ts';
import { type StoredRoute, selectRoutes, toRoutes } from './connectors.ts';
import { selectFreeIds, toIds } from './id-blocks.ts';

/** What a caller asked for, as it is stored with each message; numbers and texts apart. */
export interface AskedRequest {
  readonly accountId: number;
  readonly appKey: string;
  readonly kind: SmsKind;
  /** Type as sent; 1 for requests without a type field. */
  readonly smsType: number;
  /** Hash by which a repetition is recognised. */
  readonly replayHash: string;
  /** `sendid` of the answer if the request is accepted. */
  readonly sendid: string;
}

export interface RequestToStore {
  /** One of `requestIds`. */
  readonly id: number;
  readonly asked: AskedRequest;
  readonly appId: number;
  readonly texts: readonly string[];
  readonly dueAt: number;
  readonly expireAt: number;
  readonly messages: readonly MessageToStore[];
}

/** One number. */
interface MessageToStore {
  /** One of `messageIds`. */
  readonly id: number;
  /** Ids of the parts, one for each text of the request. */
  readonly partIds: readonly number[];
  /** E.164 with `+` */
  readonly destination: string;
  /** Price of each part. */
  readonly price: number;
  /** Prefix of the route that the message waits for. */
  readonly route: string;
  /** 0 to 255 */
  readonly reference: number;
  /** The message is not sent and not paid. */
  readonly isOptedOut: boolean;
}

/** Data needed for the requests of one transaction. */
export interface AcceptFacts {
  /** Apps of any account. */
  readonly apps: readonly SmsApp[];
  /** The sendid of an earlier request, by replay hash. */
  readonly sendids: ReadonlyMap<string, string>;
  readonly prices: readonly SmsPrice[];
  readonly routes: readonly StoredRoute[];
  /** Balances of the accounts that have one. Locked until the transaction ends. */
  readonly balances: ReadonlyMap<number, number>;
  readonly requestIds: readonly number[];
  readonly messageIds: readonly number[];
  readonly partIds: readonly number[];
}

/** Upper bounds of the rows to insert. */
export interface AskedRows {
  readonly messages: number;
  readonly parts: number;
}

/**
 * Locks balances first. Two processes that receive the same request lock the same account, so the second sees what the
 * first has stored.
 */
export async function readAcceptFacts(
  trx: Transaction<Schema>,
  asked: readonly Pick<AskedRequest, 'accountId' | 'appKey' | 'replayHash'>[],
  rows: AskedRows,
): Promise<AcceptFacts> {
  const locking = runBatch(trx, [
    lockSmsBalances({ accountIds: unique(asked.map(({ accountId }) => accountId)) }),
  ] as const);
  const reading = readBatch(trx, [
    selectSmsAppsByKey({ appKeys: listOf(unique(asked.map(({ appKey }) => appKey))) }),
    selectSendids({ replayHashes: listOf(asked.map(({ replayHash }) => replayHash)) }),
    selectSmsPrices({}),
    selectRoutes({}),
    selectFreeIds.sms_request({ count: asked.length }),
    selectFreeIds.sms_message({ count: rows.messages }),
    selectFreeIds.sms_part({ count: rows.parts }),
  ] as const);
  const [[balances], [apps, sendids, prices, routes, requestIds, messageIds, partIds]] = await settleAll([
    locking,
    reading,
  ] as const);
  return {
    apps: apps.map(toApp),
    sendids: new Map(sendids.map(({ hash, sendid }) => [hash, sendid])),
    prices,
    routes: toRoutes(routes),
    balances: new Map(balances.map(({ accountId, balance }) => [accountId, balance])),
    requestIds: toIds(requestIds, asked.length),
    messageIds: toIds(messageIds, rows.messages),
    partIds: toIds(partIds, rows.parts),
  };
}

/** A subquery instead of a join: PostgreSQL cannot estimate the length of the list and would read the whole table. */
const selectSendids = statement({ replayHashes: 'rows' }, ({ replayHashes }) => {
  return sql<{ hash: string; sendid: string }>`
    select hash as hash, sendid as sendid from (
      select value ->> 0 as hash, (select r.sendid from sms_request as r where r.replay_hash = value ->> 0) as sendid
      from ${replayHashes}) as asked
    where sendid is not null`;
});

export interface AccountNumber {
  readonly accountId: number;
  readonly number: string;
}

/** Data about numbers; few messages need it. */
export interface NumberFacts {
  /** Numbers that have opted out of advertising from the account or from all, as `optOutKey`. */
  readonly optOuts: ReadonlySet<string>;
  /** Reference of the last long message to each number; a number without one is absent. */
  readonly references: ReadonlyMap<string, number>;
}

/**
 * Reads data about numbers. `advertised`: numbers that receive advertising. `long`: numbers that receive messages of
 * several parts.
 */
export async function readNumberFacts(
  trx: Transaction<Schema>,
  advertised: readonly AccountNumber[],
  long: readonly string[],
): Promise<NumberFacts> {
  if (advertised.length === 0 && long.length === 0) return { optOuts: new Set(), references: new Map() };
  const [optOuts, references] = await runBatch(trx, [
    selectOptOuts({ asked: advertised.map(({ accountId, number }) => [accountId, number]) }),
    selectReferences({ destinations: listOf(unique(long)) }),
  ] as const);
  return {
    optOuts: new Set(optOuts.map(optOutKey)),
    references: new Map(
      references.flatMap(({ destination, reference }) => (reference === null ? [] : [[destination, reference]])),
    ),
  };
}

const selectOptOuts = statement({ asked: 'rows' }, ({ asked }) => {
  return sql<AccountNumber>`
    select cast(value ->> 0 as integer) as "accountId", value ->> 1 as number from ${asked}
    where exists (select 1 from sms_opt_out as o
      where o.number = value ->> 1 and o.account_id in (0, cast(value ->> 0 as integer)))`;
});

export function optOutKey({ accountId, number }: AccountNumber): string {
  return `${accountId} ${number}`;
}

const selectReferences = statement({ destinations: 'rows' }, ({ destinations }) => {
  return sql<{ destination: string; reference: number | null }>`
    select value ->> 0 as destination, (select m.reference from sms_message as m
      where m.destination = value ->> 0 and m.parts > 1 order by m.id desc limit 1) as reference
    from ${destinations}`;
});

export interface StoreRequestsOptions {
  /** Amounts to take from the balances, by account; the caller has locked them. */
  readonly taken: ReadonlyMap<number, number>;
  readonly now: number;
  /** Parts that are claimed in the same transaction; absent: all wait. */
  readonly claim?: ClaimAtOnce | undefined;
}

/** A claim on parts as they are stored, with the same result as `claimParts`. */
interface ClaimAtOnce {
  /** Connector of each message. */
  readonly connectors: ReadonlyMap<number, number>;
  readonly owner: string;
  readonly leaseUntil: number;
  readonly now: number;
}

export async function storeRequests(
  trx: Transaction<Schema>,
  requests: readonly RequestToStore[],
  { taken, now, claim }: StoreRequestsOptions,
): Promise<void> {
  if (requests.length === 0) return;
  const allRows = (make: (request: RequestToStore) => readonly RowValues[]) => requests.flatMap(make);
  const writes = [
    taken.size > 0 ? takeFromSmsBalances({ taken: [...taken] }) : undefined,
    insertRequests(
      trx,
      allRows((request) => [requestRow(request, now)]),
    ),
    insertMessages(
      trx,
      allRows((request) => messageRows(request, now, claim)),
    ),
    insertParts(
      trx,
      allRows((request) => partRows(request, now, claim)),
    ),
    insertHolds(
      trx,
      allRows((request) => holdRows(request, now)),
    ),
  ];
  await writeBatch(trx, writes, { isIndependent: true });
}

const insertRequests = insertRows('sms_request', {
  ...({ id: 'bigint', sendid: 'text', account_id: 'integer', app_id: 'integer', kind: 'text' } as const),
  ...({ sms_type: 'integer', created_at: 'bigint', replay_hash: 'text' } as const),
});

function requestRow({ id, appId, asked }: RequestToStore, now: number): RowValues {
  const { sendid, accountId, kind, smsType, replayHash } = asked;
  return [id, sendid, accountId, appId, kind, smsType, now, replayHash];
}

const insertMessages = insertRows('sms_message', {
  ...({ id: 'bigint', request_id: 'bigint', account_id: 'integer', app_id: 'integer', kind: 'text' } as const),
  ...({ sms_type: 'integer', destination: 'text', parts: 'integer', price: 'bigint', reference: 'integer' } as const),
  ...({ created_at: 'bigint', connector_id: 'integer' } as const),
});

/** Rows of the request's messages. A message of several parts is bound to the connector that claims them. */
function messageRows(request: RequestToStore, now: number, claim: ClaimAtOnce | undefined): readonly RowValues[] {
  const { appId, texts, asked } = request;
  const { accountId, kind, smsType } = asked;
  return request.messages.map(({ id, destination, price, reference }) => [
    id,
    request.id,
    accountId,
    appId,
    kind,
    smsType,
    destination,
    texts.length,
    price,
    reference,
    now,
    texts.length > 1 ? (claim?.connectors.get(id) ?? null) : null,
  ]);
}

const insertParts = insertRows('sms_part', {
  ...({ id: 'bigint', message_id: 'bigint', n: 'integer', text: 'text', route: 'text', priority: 'integer' } as const),
  ...({ due_at: 'bigint', expire_at: 'bigint', state: 'text', done_at: 'bigint', error: 'text' } as const),
  ...({ tries: 'integer', account_id: 'integer', sends: 'integer', connector_id: 'integer' } as const),
  ...({ submitted_at: 'bigint', lease_owner: 'text', lease_until: 'bigint' } as const),
});

function partRows(request: RequestToStore, now: number, claim: ClaimAtOnce | undefined): readonly RowValues[] {
  const { asked, texts, dueAt, expireAt, messages } = request;
  const { accountId, kind } = asked;
  const priority = kind === 'ordinary' ? 0 : 1;
  return messages.flatMap(({ id, partIds, route, isOptedOut }) => {
    const start = isOptedOut
      ? ['rejected', now, 'optOut']
      : [claim?.connectors.has(id) ? 'submitting' : 'queued', null, ''];
    return texts.map((text, index) => [
      ...[partIds[index] ?? null, id, index + 1, text, route, priority, dueAt, expireAt, ...start, 0, accountId],
      ...claimRow(id, claim),
    ]);
  });
}

function claimRow(messageId: number, claim: ClaimAtOnce | undefined): RowValues {
  const connectorId = claim?.connectors.get(messageId);
  if (claim === undefined || connectorId === undefined) return [0, null, null, null, null];
  return [1, connectorId, claim.now, claim.owner, claim.leaseUntil];
}

const insertHolds = insertRows('sms_ledger', {
  ...({ account_id: 'integer', part_id: 'bigint', kind: 'text', amount: 'bigint', created_at: 'bigint' } as const),
});

/** Holds for the parts that are to be sent. */
function holdRows({ asked: { accountId }, messages }: RequestToStore, now: number): readonly RowValues[] {
  return messages.flatMap(({ partIds, price, isOptedOut }) =>
    isOptedOut ? [] : partIds.map((partId) => [accountId, partId, 'hold', -price, now]),
  );
}

function listOf(values: readonly string[]): readonly RowValues[] {
  return values.map((value) => [value]);
}

function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}
