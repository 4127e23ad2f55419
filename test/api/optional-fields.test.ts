/**
 * What an empty text, and a field that has no effect, mean in each optional field of the documented operations, and numbers where
 * text is documented: one table, docs/decisions/0445, over HTTP through the typed client.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createClient } from '#client/client.ts';
import { decodeRequest } from '#contract/decode.ts';
import { type CallOf, OPERATIONS } from '#contract/operations.ts';
import { ROUTE_NAMES, ROUTES, type RouteName } from '#contract/routes.ts';
import { add, startWithCustomers } from '../support/api/customers.ts';
import { newSqlite } from '../support/db/databases.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Fields that an empty text clears; in all other optional fields it is the same as an absent field. */
const CLEARED_BY_EMPTY: readonly string[] = [
  'domain.updateOrigin backup',
  'domain.updateOrigin source_type',
  'domain.updateOrigin sourcehost',
  'domain.updateOrigin monitor_url',
  'config.setAdvanced forbid_redirect_url',
  'config.setAdvanced html_403',
];

/** Request, and the fields that have no effect in it. */
const IGNORED: readonly (readonly [name: RouteName, request: Fields, ignored: readonly string[]])[] = [
  ['config.setReferer', { referer_type: '0' }, ['referer_blank', 'referer_str']],
  ['config.setReferer', { referer_type: 0 }, ['referer_blank', 'referer_str']],
  ['config.setUserAgent', { ua_control: '0' }, ['ua_str']],
  ['config.setIp', { ip_type: 0 }, ['ip_str']],
  ['config.setIp', { ip_type: '0' }, ['ip_str']],
  ['config.setSsl', { ssl_control: '0' }, ['ssl_key']],
];
/** Neither is what it should be anywhere above. */
const UNREADABLE: readonly unknown[] = ['a b/c,,a b/c', { a: 1 }, [[1]], true, -7, '\0', 'x'.repeat(2_000)];

const TIMES = ['time_y', 'time_d', 'time_h', 'time_i', 'time_s'];

async function start(t: Parameters<typeof startWithCustomers>[0]) {
  const { api, me, mine } = await startWithCustomers(t, newSqlite);
  const client = createClient({ baseUrl: api.url, accessToken: me.accessToken, locale: 'en' });
  const id = await add(mine, 'a.example');
  // What is wrong on purpose has no type.
  const call = (name: RouteName, request: Fields) =>
    client.call(name, { domain_id: id, ...request } as unknown as CallOf<typeof name>);
  return { call, id };
}

describe('optional fields', () => {
  test('an empty text is the same as an absent field, unless it clears a stored value', () => {
    const cleared: string[] = [];
    for (const name of ROUTE_NAMES.filter((known) => !('extension' in ROUTES[known]))) {
      const { request } = OPERATIONS[name];
      const sample: Fields = OPERATIONS[name].sample.request;
      for (const [field, { schema }] of Object.entries(request.fields)) {
        // An empty if_revision is refused: test/api/revisions.test.ts.
        if (field === 'if_revision' || !schema.safeParse(undefined).success) continue;
        const { [field]: _left, ...rest } = sample;
        const absent = decodeRequest(request, rest);
        const empty = decodeRequest(request, { ...rest, [field]: '' });
        const isAbsent = JSON.stringify(empty) === JSON.stringify(absent);
        if (!isAbsent) cleared.push(`${name} ${field}`);
      }
    }
    assert.deepEqual(cleared, CLEARED_BY_EMPTY);
  });

  test('empty texts are accepted in every optional field at once, and change no stored value', async (t) => {
    const { call } = await start(t);
    await call('config.setReferer', { referer_type: 1, referer_blank: 0, referer_str: 'b.example' });
    await call('config.setReferer', { referer_type: 2, referer_blank: '', referer_str: '' });
    assert.partialDeepStrictEqual(await call('config.getReferer', {}), {
      referer_type: '2',
      referer_blank: '0',
      referer_str: 'b.example',
    });
    await call('config.setUserAgent', { ua_control: 1, ua_str: 'curl' });
    await call('config.setUserAgent', { ua_control: 1, ua_str: '' });
    assert.partialDeepStrictEqual(await call('config.getUserAgent', {}), { ua_control: '1', ua_str: 'curl' });
    await assert.rejects(call('config.setIp', { ip_type: 1, ip_str: '' }), { code: 'fieldMissing' });
    const empty = Object.fromEntries(['priority', 'policy_scheme', ...TIMES].map((name) => [name, '']));
    const policy = [{ is_cache: 0, policy_type: 'prefix', content: '/', ...empty }];
    await call('config.setPolicies', { use_header_setting: 0, policy });
    assert.partialDeepStrictEqual(await call('config.getPolicies', {}), {
      policy: [{ priority: 1, time_y: 0, time_s: 0 }],
    });
    await call('config.setPolicies', { use_header_setting: 1, policy: '' });
    assert.partialDeepStrictEqual(await call('config.getPolicies', {}), { use_header_setting: '1', policy: [] });
    const unsaid = { icp_no: '', backup: '', source_type: '', sourcehost: '', monitor_url: '', remark: '' };
    await call('domain.add', { domain: 'b.example', cdn_type: 1, data: 'o.example', ...unsaid });
    await call('log.list', { domain: 'a.example', starttime: '', endtime: '' });
    await call('domain.list', { page: '', page_size: '', name: '', domain_status: '' });
    const none = { force_https: '', hsts_max_age: '', tls_min_version: '', ssl_key: '' };
    await call('config.setSsl', { ssl_control: 0, ...none });
  });

  for (const [name, request, ignored] of IGNORED)
    test(`${name} ${JSON.stringify(request)} does not look at ${ignored.join(', ')}`, async (t) => {
      const { call } = await start(t);
      for (const value of UNREADABLE) {
        const given = Object.fromEntries(ignored.map((field) => [field, value]));
        assert.equal(await call(name, { ...request, ...given }), true, JSON.stringify(value)?.slice(0, 40));
      }
    });

  test('the list of a rule that is off is stored if it can be read; otherwise the stored list stays', async (t) => {
    const { call } = await start(t);
    await call('config.setIp', { ip_type: 0, ip_str: '192.0.2.1' });
    await call('config.setIp', { ip_type: 0, ip_str: 'nonsense' });
    await call('config.setIp', { ip_type: 1 });
    assert.partialDeepStrictEqual(await call('config.getIp', {}), { ip_type: 1, ip_str: '192.0.2.1' });
    await assert.rejects(call('config.setIp', { ip_type: 1, ip_str: 'nonsense' }), { code: 'entryInvalid' });
  });

  test('the times of a policy that does not cache are ignored, its other fields are not', async (t) => {
    const { call } = await start(t);
    const policy = { is_cache: '0', policy_type: 'prefix', content: '/' };
    const set = (changed: Fields) =>
      call('config.setPolicies', { use_header_setting: 0, policy: [{ ...policy, ...changed }] });
    for (const value of UNREADABLE)
      for (const time of TIMES) assert.equal(await set({ [time]: value }), true, `${time} ${JSON.stringify(value)}`);
    for (const changed of [{ priority: 100 }, { policy_scheme: 'ftp' }, { content: 'a' }])
      await assert.rejects(set(changed), { name: 'ClientError', kind: 'refused' });
    await assert.rejects(set({ is_cache: '1', policy_scheme: 'http', time_d: -7 }), { code: 'fieldInvalid' });
  });
});

describe('numbers where text is documented', () => {
  test('a number is accepted for every choice that its text stands for', () => {
    let numbers = 0;
    for (const name of ROUTE_NAMES)
      for (const [field, { schema }] of Object.entries(OPERATIONS[name].request.fields))
        for (const text of ['0', '1', '2', '3', '4', '5', '6', '1.2', '1.3', '33', '34', '50']) {
          const asText = schema.safeParse(text);
          if (!asText.success || Array.isArray(asText.data)) continue;
          const asNumber = schema.safeParse(Number(text));
          assert.deepEqual(asNumber.data, asText.data, `${name} ${field} ${text}`);
          numbers++;
        }
    assert.ok(numbers > 100, String(numbers));
  });

  test('tls_min_version is 1.2 or 1.3, as a number or as text', async (t) => {
    const { call } = await start(t);
    for (const [value, read] of [
      [1.3, '1.3'],
      ['1.2', '1.2'],
      ['1.3', '1.3'],
      [1.2, '1.2'],
    ]) {
      await call('config.setSsl', { ssl_control: 0, tls_min_version: value });
      assert.partialDeepStrictEqual(await call('config.getSsl', {}), { tls_min_version: read });
    }
    for (const value of ['1.30', '01.3', ' 1.3', 1, 1.1, 1.4, true, [1.3]])
      await assert.rejects(call('config.setSsl', { ssl_control: 0, tls_min_version: value }), { code: 'fieldInvalid' });
  });
});
