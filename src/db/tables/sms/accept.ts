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
  const messages = requests.flatMap((request) =>
    request.messages.map((message): MessageItem => {
      const connectorId = claim?.connectors.get(message.id);
      return {
        request,
        asked: request.asked,
        message,
        now,
        claim: connectorId === undefined ? undefined : claim,
        connectorId,
      };
    }),
  );
  const parts = messages.flatMap((item) =>
    item.message.partIds.map((partId, index): PartItem => ({ ...item, partId, index })),
  );
  const writes = [
    taken.size > 0 ? takeFromSmsBalances({ taken: [...taken] }) : undefined,
    insertRequests(
      trx,
      requests.map((request) => ({ request, asked: request.asked, now })),
    ),
    insertMessages(trx, messages),
    insertParts(trx, parts),
    insertHolds(
      trx,
      parts.filter(({ message }) => !message.isOptedOut),
    ),
  ];
  await writeBatch(trx, writes, { isIndependent: true });
}

/** Source of the row of a request. */
interface RequestItem {
  readonly request: RequestToStore;
  readonly asked: AskedRequest;
  readonly now: number;
}

const insertRequests = insertRows<'sms_request', RequestItem>('sms_request', {
  id: ['bigint', ({ request }) => request.id],
  sendid: ['text', ({ asked }) => asked.sendid],
  account_id: ['integer', ({ asked }) => asked.accountId],
  app_id: ['integer', ({ request }) => request.appId],
  kind: ['text', ({ asked }) => asked.kind],
  sms_type: ['integer', ({ asked }) => asked.smsType],
  created_at: ['bigint', ({ now }) => now],
  replay_hash: ['text', ({ asked }) => asked.replayHash],
});

interface MessageItem extends RequestItem {
  readonly message: MessageToStore;
  /** Present if the message is claimed at once, by this connector. */
  readonly claim: ClaimAtOnce | undefined;
  readonly connectorId: number | undefined;
}

const insertMessages = insertRows<'sms_message', MessageItem>('sms_message', {
  id: ['bigint', ({ message }) => message.id],
  request_id: ['bigint', ({ request }) => request.id],
  account_id: ['integer', ({ asked }) => asked.accountId],
  app_id: ['integer', ({ request }) => request.appId],
  kind: ['text', ({ asked }) => asked.kind],
  sms_type: ['integer', ({ asked }) => asked.smsType],
  destination: ['text', ({ message }) => message.destination],
  parts: ['integer', ({ request }) => request.texts.length],
  price: ['bigint', ({ message }) => message.price],
  reference: ['integer', ({ message }) => message.reference],
  created_at: ['bigint', ({ now }) => now],
  // A message of several parts is bound to the connector that claims them.
  connector_id: ['integer', ({ request, connectorId = null }) => (request.texts.length > 1 ? connectorId : null)],
});

interface PartItem extends MessageItem {
  readonly partId: number;
  readonly index: number;
}

const insertParts = insertRows<'sms_part', PartItem>('sms_part', {
  id: ['bigint', ({ partId }) => partId],
  message_id: ['bigint', ({ message }) => message.id],
  n: ['integer', ({ index }) => index + 1],
  text: ['text', ({ request, index }) => request.texts[index] ?? ''],
  route: ['text', ({ message }) => message.route],
  priority: ['integer', ({ asked }) => (asked.kind === 'ordinary' ? 0 : 1)],
  due_at: ['bigint', ({ request }) => request.dueAt],
  expire_at: ['bigint', ({ request }) => request.expireAt],
  state: ['text', ({ message, claim }) => (message.isOptedOut ? 'rejected' : claim ? 'submitting' : 'queued')],
  done_at: ['bigint', ({ message, now }) => (message.isOptedOut ? now : null)],
  error: ['text', ({ message }) => (message.isOptedOut ? 'optOut' : '')],
  tries: ['integer', () => 0],
  account_id: ['integer', ({ asked }) => asked.accountId],
  sends: ['integer', ({ claim }) => (claim ? 1 : 0)],
  connector_id: ['integer', ({ connectorId = null }) => connectorId],
  submitted_at: ['bigint', ({ claim }) => claim?.now ?? null],
  lease_owner: ['text', ({ claim }) => claim?.owner ?? null],
  lease_until: ['bigint', ({ claim }) => claim?.leaseUntil ?? null],
});

/** Holds for the parts that are to be sent. */
const insertHolds = insertRows<'sms_ledger', PartItem>('sms_ledger', {
  account_id: ['integer', ({ asked }) => asked.accountId],
  part_id: ['bigint', ({ partId }) => partId],
  kind: ['text', () => 'hold'],
  amount: ['bigint', ({ message }) => -message.price],
  created_at: ['bigint', ({ now }) => now],
});

function listOf(values: readonly string[]): readonly RowValues[] {
  return values.map((value) => [value]);
}

function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}
