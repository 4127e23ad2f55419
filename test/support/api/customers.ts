/** Customers of a test's API, and what they do with domains. */
import assert from 'node:assert/strict';
import { OPERATIONS } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import type { NewDatabase } from '../db/databases.ts';
import type { Cleanup } from '../temporary.ts';
import { type Raw, startTestApi, type TestApi, type TestApiOptions } from './api.ts';

/** What a domain needs besides its name. */
export const SETTINGS = { cdn_type: '1', data: 'origin.example.net' };

/** An API with two customers. `mine` and `theirs` call with their tokens. */
export async function startWithCustomers(t: Cleanup, newDatabase: NewDatabase, options: TestApiOptions = {}) {
  const api = await startTestApi(t, newDatabase, options);
  const me = await api.join('customer', ['cdn']);
  const other = await api.join('customer', ['cdn']);
  const operator = await api.join('operator', ['operator']);
  return {
    api,
    me,
    other,
    mine: (name: RouteName, request: Record<string, unknown>) => api.call(name, me.accessToken, request),
    theirs: (name: RouteName, request: Record<string, unknown>) => api.call(name, other.accessToken, request),
    operate: (name: RouteName, request: Record<string, unknown>) => api.call(name, operator.accessToken, request),
  };
}

export type CallAs = (name: RouteName, request: Record<string, unknown>) => Promise<Raw>;

/** `data` of a successful answer. */
export function dataOf({ body }: Raw): Record<string, unknown> {
  const data = body['data'];
  assert.ok(body['status'] === 1 && typeof data === 'object' && data !== null, JSON.stringify(body));
  return Object.fromEntries(Object.entries(data));
}

export async function add(call: CallAs, domain: string, settings: Record<string, unknown> = {}): Promise<string> {
  return String(dataOf(await call('domain.add', { ...SETTINGS, domain, ...settings }))['domain_id']);
}

export async function show(call: CallAs, id: string): Promise<Record<string, unknown>> {
  return dataOf(await call('domain.get', { domain_id: id }));
}

/** What the edges are told of a name; `undefined`: nothing. */
export async function specOf(api: TestApi, name: string): Promise<unknown> {
  const row = await api.db.query.selectFrom('resource').selectAll().where('key', '=', name).executeTakeFirst();
  return row === undefined || row.deleted === 1 ? undefined : JSON.parse(row.body);
}

/** Adds the lists of addresses that samples name. */
export async function addSampleLists(call: CallAs): Promise<void> {
  const { deny, allow } = OPERATIONS['config.setAddressLists'].sample.request;
  for (const name of [deny, allow].flat()) {
    const { body } = await call('addressList.set', { name, addresses: '192.0.2.1' });
    assert.equal(body['data'], true, JSON.stringify(body));
  }
}
