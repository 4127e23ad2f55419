/** Customers' views of their requests and parts. */
import type { SmsKind } from '#model/sms-app.ts';
import type { PartState } from '#model/sms-part.ts';
import type { Executor } from '../../schema/schema.ts';

export interface SmsRequestView {
  readonly sendid: string;
  readonly appKey: string;
  readonly kind: SmsKind;
  readonly createdAt: number;
}

export interface SmsRequestSums extends SmsRequestView {
  readonly numbers: number;
  /** Parts of all numbers together. */
  readonly parts: number;
  readonly price: number;
}

export interface SmsPartView {
  readonly messageId: number;
  readonly destination: string;
  /** Price of each part of the message. */
  readonly price: number;
  /** Number of the part, from 1. */
  readonly part: number;
  readonly state: PartState;
  readonly submittedAt: number | undefined;
  readonly doneAt: number | undefined;
  readonly error: string;
  /** Last word of the carrier's receipts, as received; empty if there is none. */
  readonly lastWord: string;
  /** Connector that took the part; absent if none has. */
  readonly connectorId: number | undefined;
  readonly sends: number;
}

interface OwnRequest {
  readonly accountId: number;
  readonly sendid: string;
}

export async function findSmsRequest(
  x: Executor,
  { accountId, sendid }: OwnRequest,
): Promise<(SmsRequestView & { readonly id: number }) | undefined> {
  return await requestsOf(x, accountId).where('r.sendid', '=', sendid).executeTakeFirst();
}

/** Lists parts by number in the order of the request, then by part. */
export async function listSmsParts(x: Executor, requestId: number): Promise<readonly SmsPartView[]> {
  const rows = await x
    .selectFrom('sms_message as m')
    .innerJoin('sms_part as p', 'p.message_id', 'm.id')
    .select(['m.id as messageId', 'm.destination', 'm.price', 'p.n as part', 'p.state', 'p.error', 'p.sends'])
    .select(['p.last_word as lastWord', 'p.connector_id', 'p.submitted_at', 'p.done_at'])
    .where('m.request_id', '=', requestId)
    .orderBy('m.id')
    .orderBy('p.n')
    .execute();
  return rows.map(({ state, connector_id, submitted_at, done_at, ...row }) => ({
    ...row,
    state: state as PartState, // nothing else is ever written
    connectorId: connector_id ?? undefined,
    submittedAt: submitted_at ?? undefined,
    doneAt: done_at ?? undefined,
  }));
}

/** A page of an account's rows, newest first. */
export interface SmsPage {
  readonly accountId: number;
  /** `undefined`: all apps of the account. */
  readonly appId: number | undefined;
  /** Only ids below this one. */
  readonly before: number | undefined;
  readonly limit: number;
}

/** Lists requests, newest first. `before`: only requests with a lower id. */
export async function listSmsRequests(
  x: Executor,
  { accountId, appId, before, limit }: SmsPage,
): Promise<readonly SmsRequestSums[]> {
  const rows = await requestsOf(x, accountId)
    .$if(appId !== undefined, (query) => query.where('r.app_id', '=', appId ?? 0))
    .$if(before !== undefined, (query) => query.where('r.id', '<', before ?? 0))
    .orderBy('r.id', 'desc')
    .limit(limit)
    .execute();
  if (rows.length === 0) return [];
  const sums = await x
    .selectFrom('sms_message')
    .select((e) => [
      'request_id',
      e.fn.countAll<number>().as('numbers'),
      e.fn.sum<number | string>('parts').as('parts'),
      e.fn.sum<number | string>(e('parts', '*', e.ref('price'))).as('price'),
    ])
    .where(
      'request_id',
      'in',
      rows.map(({ id }) => id),
    )
    .groupBy('request_id')
    .execute();
  const byRequest = new Map(sums.map((sum) => [sum.request_id, sum]));
  return rows.map((row) => {
    const { numbers = 0, parts = 0, price = 0 } = byRequest.get(row.id) ?? {};
    // PostgreSQL returns sums of 64-bit integers as text.
    return { ...row, numbers, parts: Number(parts), price: Number(price) };
  });
}

function requestsOf(x: Executor, accountId: number) {
  return x
    .selectFrom('sms_request as r')
    .innerJoin('sms_app as a', 'a.id', 'r.app_id')
    .select(['r.id', 'r.sendid', 'r.created_at as createdAt', 'a.app_key as appKey'])
    .select((e) => e.ref('r.kind').$castTo<SmsKind>().as('kind')) // nothing else is ever written
    .where('r.account_id', '=', accountId);
}
