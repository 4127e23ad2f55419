/** Changes that are made only where the settings are those that their caller has read, and lists that are not larger than asked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { ClientError } from '#client/client-error.ts';
import { type CallOf, OPERATIONS } from '#contract/operations.ts';
import { ROUTE_NAMES, type RouteName } from '#contract/routes.ts';
import { addTestCertificate } from '../support/api/added-certificate.ts';
import { add, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { needs } from '../support/runner/needs.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Connectors and routes of SMS have revisions of their own; api-sms-changes.test.ts covers them. */
const CHANGES = ROUTE_NAMES.filter(
  (name) => 'if_revision' in OPERATIONS[name].request.fields && !name.startsWith('smsOperator.'),
);
/** Not every domain has these; api-certificate-requests.test.ts and api-recordings.test.ts cover them. */
const WITH_THEIR_OWN_TESTS: readonly RouteName[] = ['config.requestCertificate', 'live.setRecording'];
const READINGS: readonly RouteName[] = [
  'domain.get',
  ...ROUTE_NAMES.filter((name) => /^config\.get(?!CertificateRequest)/.test(name)),
];

describeOnBothEngines('revisions of settings', (newDatabase) => {
  async function start(t: Parameters<typeof startWithCustomers>[0]) {
    const { api, me, mine } = await startWithCustomers(t, newDatabase);
    const client = createClient({ baseUrl: api.url, accessToken: me.accessToken, locale: 'en' });
    const id = await add(mine, 'a.example');
    // The samples and the refused values have no type.
    const call = (name: RouteName, request: Fields = {}) =>
      client.call(name, { domain_id: id, ...request } as unknown as CallOf<typeof name>) as Promise<unknown>;
    const revision = async () => String(Reflect.get(Object(await call('domain.get')), 'revision'));
    return { api, me, mine, call, id, revision };
  }

  test('every operation that changes a domain takes if_revision, and each that reads its settings shows the revision', async (t) => {
    const { call, revision } = await start(t);
    assert.deepEqual(CHANGES, [
      'domain.updateOrigin',
      'domain.delete',
      'domain.setStatus',
      'domain.setRemark',
      'domain.change',
      'domain.revert',
      ...ROUTE_NAMES.filter((name) => name.startsWith('config.set') && !name.endsWith('CacheOptions')).filter(
        (name) => name !== 'config.setSsl',
      ),
      'config.setCacheOptions',
      'config.setSsl',
      'config.requestCertificate',
      'live.setRecording',
    ]);
    const now = await revision();
    for (const name of READINGS) assert.partialDeepStrictEqual(await call(name), { revision: now }, name);
  });

  test('a change with another revision is refused with the present one, and changes nothing', async (t) => {
    const { call, revision } = await start(t);
    const before = await revision();
    await call('config.setIp', { ip_type: 1, ip_str: '192.0.2.1', if_revision: before });
    const now = await revision();
    assert.notEqual(now, before);
    const shown = await call('domain.get');
    for (const name of CHANGES.filter((known) => !WITH_THEIR_OWN_TESTS.includes(known)))
      for (const given of [before, Number(before), 0]) {
        const { domain_id: _id, ...request }: Fields = { ...OPERATIONS[name].sample.request };
        await assert.rejects(call(name, { ...request, if_revision: given }), (error) => {
          assert.ok(error instanceof ClientError);
          assert.deepEqual([error.code, error.http, error.status], ['revisionChanged', 200, 0], name);
          assert.equal(error.currentRevision, now);
          assert.match(
            error.info,
            new RegExp(
              `their revision is ${now}, not ${given} \\(changed by token at .*Z\\); the current settings are \\{`,
            ),
          );
          if (name === 'config.setIp') assert.match(error.info, /\{"ip_type":1,"ip_str":"192\.0\.2\.1"\}$/);
          return true;
        });
      }
    assert.deepEqual(await call('domain.get'), shown);
    for (const given of [undefined, null, now, Number(now)])
      assert.equal(await call('domain.setRemark', { remark: 'x', if_revision: given }), true);
    for (const name of CHANGES) {
      const { domain_id: _id, ...request }: Fields = { ...OPERATIONS[name].sample.request };
      await assert.rejects(call(name, { ...request, if_revision: '' }), /field if_revision is invalid/, name);
    }
    assert.partialDeepStrictEqual(await call('domain.get'), { revision: now });
  });

  test('one of two changes made from the same revision is refused, and neither is undone', async (t) => {
    const { call } = await start(t);
    const read = Object(await call('config.getAdvanced'));
    const change = (changed: Fields) =>
      call('config.setAdvanced', { ...read, ...changed, if_revision: Reflect.get(read, 'revision') });
    const outcomes = await Promise.allSettled([change({ page_compress: '1' }), change({ redirect_follow: '1' })]);
    const kept = outcomes.findIndex(({ status }) => status === 'fulfilled');
    const [refused] = outcomes.filter((outcome) => outcome.status === 'rejected');
    assert.equal(refused?.reason.code, 'revisionChanged');
    const switches =
      kept === 0 ? { page_compress: '1', redirect_follow: '0' } : { page_compress: '0', redirect_follow: '1' };
    assert.partialDeepStrictEqual(await call('config.getAdvanced'), switches);
  });

  test('a list of domains has no pages for 403, which the domain itself has', async (t) => {
    const { call } = await start(t);
    const read = Object(await call('config.getAdvanced'));
    await call('config.setAdvanced', { ...read, forbid_http_code: '403', html_403: '<p>no' });
    assert.partialDeepStrictEqual(await call('domain.get'), { html_403: '<p>no' });
    const { list } = Object(await call('domain.list'));
    assert.deepEqual(Object.keys(list[0]).includes('html_403'), false);
  });

  test('certificates are listed by page if the call asks for pages, and otherwise all', needs('openssl'), async (t) => {
    const { api, me, call } = await start(t);
    const keys: unknown[] = [];
    for (const name of ['a.example', 'b.example', 'c.example']) {
      keys.push((await addTestCertificate(t, api, me.accessToken, [name])).ssl_key);
    }
    const listed = async (page: Fields) =>
      Object(await call('certificate.list', page)).map((one: object) => Reflect.get(one, 'ssl_key'));
    assert.deepEqual(await listed({}), keys);
    assert.deepEqual(await listed({ page: '', page_size: '' }), keys);
    assert.deepEqual(await listed({ page: 1 }), keys);
    assert.deepEqual(await listed({ page_size: 2 }), keys.slice(0, 2));
    assert.deepEqual(await listed({ page: '2', page_size: '2' }), keys.slice(2));
    assert.deepEqual(await listed({ page: 3, page_size: 2 }), []);
    await assert.rejects(listed({ page_size: 101 }), { code: 'fieldInvalid' });
  });
});
