/** Customers of SMS in a test: an account with a token, money and an app, and what it sends. */
import assert from 'node:assert/strict';
import type { RouteName } from '#contract/routes.ts';
import { type Raw, startTestApi, type TestApi, type TestApiOptions } from '../api/api.ts';
import type { NewDatabase } from '../db/databases.ts';
import type { Cleanup } from '../temporary.ts';

export interface SmsCustomer {
  readonly accountId: number;
  readonly accessToken: string;
  readonly appKey: string;
  /** Calls an operation with what it needs, and what is given. */
  call(name: RouteName, request?: Record<string, unknown>): Promise<Raw>;
  send(request?: Record<string, unknown>): Promise<Raw>;
  advertise(request?: Record<string, unknown>): Promise<Raw>;
}

export interface SmsStage {
  readonly api: TestApi;
  readonly me: SmsCustomer;
  operate(name: RouteName, request: Record<string, unknown>): Promise<Raw>;
  join(balance: number): Promise<SmsCustomer>;
}

export async function startSmsApi(
  t: Cleanup,
  newDatabase: NewDatabase,
  { balance = 100, ...options }: TestApiOptions & { readonly balance?: number } = {},
): Promise<SmsStage> {
  const api = await startTestApi(t, newDatabase, options);
  const operator = await api.join('operator', ['operator']);
  const operate = (name: RouteName, request: Record<string, unknown>) => api.call(name, operator.accessToken, request);
  const join = async (opening: number) => createCustomer(api, operate, opening);
  return { api, operate, join, me: await join(balance) };
}

async function createCustomer(api: TestApi, operate: SmsStage['operate'], balance: number): Promise<SmsCustomer> {
  const { accountId, accessToken } = await api.join('customer', ['cdn', 'sms']);
  const made = smsData(await operate('smsOperator.createApp', { account_id: accountId, name: 'shop', balance }));
  const appKey = String(made['app_key']);
  let count = 0;
  const call = (name: RouteName, request: Record<string, unknown> = {}) => api.call(name, accessToken, request);
  const message = () => {
    count += 1;
    return { app_key: appKey, time: String(api.now), content: `hello+${count}` };
  };
  return {
    accountId,
    accessToken,
    appKey,
    call,
    send: (request = {}) => call('sms.ordinary', { ...message(), mobile: '13800138000', ...request }),
    advertise: (request = {}) =>
      call('sms.advertising', { ...message(), mobile: '13800138000,13900139000', ...request }),
  };
}

/** `data` of a successful answer that has it. */
export function smsData({ body }: Raw): Record<string, unknown> {
  const data = body['data'];
  assert.ok([1, 1000].includes(Number(body['status'])), JSON.stringify(body));
  assert.ok(typeof data === 'object' && data !== null, JSON.stringify(body));
  return Object.fromEntries(Object.entries(data));
}

/** Returns the code of an answer to sending; the HTTP status has no part in it. */
export function codeOf({ http, body }: Raw): unknown {
  assert.equal(http, 200, JSON.stringify(body));
  assert.deepEqual(Object.keys(body), ['code', 'sendid', 'msg']);
  assert.equal(body['sendid'] !== '', body['code'] === 1000, JSON.stringify(body));
  return body['code'];
}

export async function balanceOf(customer: SmsCustomer): Promise<unknown> {
  return smsData(await customer.call('sms.balance'))['balance'];
}
