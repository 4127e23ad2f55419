/** The audit trail: every operation that changes something leaves an event, in the transaction of the change. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ROUTE_NAMES, ROUTES, type RouteName } from '#contract/routes.ts';
import { tidy } from '#feed/server/housekeeping.ts';
import { DAY_MS } from '#lib/durations.ts';
import { LOCAL_SECRET, startTestApi, type TestApi } from '../support/api/api.ts';
import { add, dataOf, startWithCustomers } from '../support/api/customers.ts';
import { NEEDS_PROVIDER, PASSWORD } from '../support/api/people.ts';
import { needsOf, prepareOperation } from '../support/api/prepared-operation.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';

/** Operations that are not `read` and leave no event. */
const SILENT = {
  'sms.ordinary': 'a message is its own record',
  'sms.advertising': 'a message is its own record',
  'sms.listReplies': 'shows texts',
  'sms.balance': 'shows money',
  'sms.listLedger': 'shows money',
  'sms.getWebhook': 'shows a secret',
  'event.getWebhook': 'shows a secret',
  'eventOperator.getWebhook': 'shows a secret',
  'token.list': 'shows tokens',
  'operator.listTokens': 'shows tokens',
  'operator.listPersons': 'shows people',
  'member.list': 'shows people',
  'fleetOperator.listTokens': 'shows tokens',
  'liveOperator.getKeys': 'shows keys',
  'smsOperator.listLedger': 'shows money',
  'smsOperator.listPrices': 'shows money',
  'smsOperator.testNumber': 'shows money',
  'smsOperator.testConnector': 'tries a connection, and changes nothing',
  'sinkOperator.test': 'posts a record, and changes nothing',
  'smsOperator.listUnread': 'shows texts',
} as const satisfies { readonly [N in RouteName]?: string };

const TELLING = ROUTE_NAMES.filter((name) => ROUTES[name].access !== 'read' && !NEEDS_PROVIDER.includes(name));

/** Secrets of the samples, and of what their preparation sends. */
const SECRETS = ['PRIVATE KEY', 'correct horse', PASSWORD, '"secret"', '0123456789abcdef0123', '13800138000'];

/** SQLite alone: events are written in one place. */
describe('events of every operation that changes something', () => {
  for (const name of TELLING)
    test(
      `${name} leaves ${name in SILENT ? 'no event' : 'an event with what it changed, and no secrets'}`,
      needsOf(name),
      async (t) => {
        const api = await startTestApi(t, newSqlite);
        const { accessToken, request } = await prepareOperation(t, api, name);
        const before = await newest(api);
        const answer = await api.call(name, accessToken, request);
        assert.equal(answer.errorCode, undefined, JSON.stringify(answer.body));
        const added = (await events(api)).filter(({ id }) => id > before);
        assert.equal(added.length > 0, !(name in SILENT));
        for (const event of added) {
          assert.equal(event.operation, name);
          assert.equal(event.request_id, answer.headers.get('x-request-id'));
          assert.notEqual(event.target_kind, '');
          assert.ok(event.token_id !== null || event.person_id !== null);
        }
        const told = JSON.stringify(await events(api));
        for (const secret of SECRETS) assert.ok(!told.includes(secret), secret);
      },
    );
});

describeOnBothEngines('the audit trail', (newDatabase) => {
  test('a change that is refused, and one that changes nothing, leave no event', async (t) => {
    const { api, me, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const before = await newest(api);
    const refused: [RouteName, Record<string, unknown>][] = [
      ['domain.updateOrigin', { domain_id: id, data: [] }],
      ['domain.setRemark', { domain_id: '999', remark: 'x' }],
      ['certificate.delete', { ssl_key: 'unknown' }],
      ['config.setIp', { domain_id: id, ip_type: 1, ip_str: '192.0.2.1', if_revision: 1_000_000 }],
      ['domain.change', { domain_id: id, set: { advanced: { expires: 9 } }, dry_run: '1' }],
    ];
    for (const [name, request] of refused) await mine(name, request);
    for (const request of [{ remark: '' }, { remark: '' }])
      await mine('domain.setRemark', { domain_id: id, ...request });
    await mine('domain.setStatus', { domain_id: id, domain_status: '2' });
    await mine('domain.change', { domain_id: id, set: { advanced: { expires: 0 } } });
    assert.equal(await newest(api), before);
    await mine('domain.setRemark', { domain_id: id, remark: 'y' });
    const { list } = dataOf(await mine('audit.list', {}));
    assert.partialDeepStrictEqual(Array.isArray(list) && list[0], {
      actor: 'token',
      address: '127.0.0.1',
      operation: 'domain.setRemark',
      target_kind: 'domain',
      target_id: id,
      target_name: 'a.example',
      changed: ['remark'],
      at: api.now,
    });
    assert.ok(me.accountId > 0);
  });

  test('an event has what differs, before and after, and the revision that the change made', async (t) => {
    const { mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    await mine('config.setIp', { domain_id: id, ip_type: 1, ip_str: '192.0.2.1' });
    const { revision } = dataOf(await mine('config.getIp', { domain_id: id }));
    const { list } = dataOf(await mine('audit.list', { target_kind: 'domain', target_id: id }));
    const [newestRow, addedRow] = Array.isArray(list) ? list : [];
    assert.partialDeepStrictEqual(dataOf(await mine('audit.get', { event_id: newestRow.event_id })), {
      before: { 'ip.ip_type': 0, 'ip.ip_str': '' },
      after: { 'ip.ip_type': 1, 'ip.ip_str': '192.0.2.1' },
      revision,
    });
    const added = dataOf(await mine('audit.get', { event_id: addedRow.event_id }));
    assert.deepEqual(
      [added['before'], added['after']],
      [{}, { type: 'static', status: 'open', 'origin.data': ['origin.example.net'] }],
    );
  });

  test('customers see the events of their account alone, and of operators that it was one', async (t) => {
    const { api, me, other, mine, theirs, operate } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    await operate('operator.setDomainStatus', { account_id: me.accountId, domain_id: id, action: 'disable' });
    await operate('operator.setDomainStatus', { account_id: me.accountId, domain_id: id, action: 'enable' });
    await operate('groupOperator.set', { name: 'eu', default: '0' });
    const list = async (call: typeof mine, request = {}) => {
      const page = dataOf(await call('audit.list', request))['list'];
      assert.ok(Array.isArray(page));
      return page;
    };
    const [enabled] = await list(mine);
    assert.partialDeepStrictEqual(enabled, { actor: 'operator', actor_name: '', token_id: '', address: '' });
    assert.deepEqual(await list(theirs), []);
    assert.equal((await theirs('audit.get', { event_id: enabled.event_id })).errorCode, 'auditEventNotFound');
    assert.equal((await operate('audit.list', {})).errorCode, 'scopeMissing');
    assert.equal((await mine('auditOperator.list', {})).errorCode, 'pathUnknown');
    await operate('operator.transferDomain', {
      ...{ account_id: me.accountId, domain_id: id, to_account_id: other.accountId },
    });
    const [left] = await list(mine);
    const [came] = await list(theirs);
    const shown = async (call: typeof mine, event_id: string) => dataOf(await call('audit.get', { event_id }));
    assert.partialDeepStrictEqual(await shown(mine, left.event_id), {
      before: { account_id: String(me.accountId) },
      after: {},
    });
    assert.partialDeepStrictEqual(await shown(theirs, came.event_id), {
      before: {},
      after: { account_id: String(other.accountId) },
    });
    const everything = dataOf(await operate('auditOperator.list', { page_size: 100 }))['list'];
    assert.ok(Array.isArray(everything));
    assert.equal(everything.length, 6);
    assert.partialDeepStrictEqual(everything[0], { actor: 'token', address: '127.0.0.1' });
    const owners = everything.map(({ account_id }) => account_id);
    assert.deepEqual(new Set(owners), new Set([String(me.accountId), String(other.accountId), '']));
    const own = dataOf(await operate('auditOperator.list', { account_id: other.accountId }))['list'];
    assert.partialDeepStrictEqual(own, [{ account_id: String(other.accountId), operation: 'operator.transferDomain' }]);
    const one = dataOf(await operate('auditOperator.get', { event_id: everything[0].event_id }));
    assert.equal(one['account_id'], everything[0].account_id);
    assert.equal('account_id' in left, false);
    assert.notEqual(everything[0].token_id, '');
    const ofGroup = dataOf(await operate('auditOperator.list', { operation: 'groupOperator.set' }))['list'];
    assert.partialDeepStrictEqual(ofGroup, [{ account_id: '', target_kind: 'group', target_id: 'eu' }]);
    assert.equal(api.now > 0, true);
  });

  test('members that an operation does not know say neither whose its event is nor what it is about', async (t) => {
    const { api, me, other, mine, theirs } = await startWithCustomers(t, newDatabase);
    const others = { domain_id: '77', domain: 'victim.example', token_id: '3', edge_id: 'fra1' };
    for (const account_id of [other.accountId, 'x', '9'.repeat(400), -1]) {
      const request = { ...others, name: 'office', addresses: ['192.0.2.1'], account_id };
      assert.equal((await mine('addressList.set', request)).errorCode, undefined, String(account_id));
    }
    assert.deepEqual(dataOf(await theirs('audit.list', {}))['list'], []);
    for (const { account_id, target_kind, target_id, target_name } of await events(api))
      assert.deepEqual([account_id, target_kind, target_id, target_name], [me.accountId, 'addressList', 'office', '']);
  });

  test('the new owner of a domain does not learn who of the former one changed it', async (t) => {
    const { me, other, mine, theirs, operate, api } = await startWithCustomers(t, newDatabase);
    const token = dataOf(await mine('token.create', { scopes: ['cdn'], label: 'label of mine' }));
    const labelled = (name: RouteName, request: Record<string, unknown>) =>
      api.call(name, String(token['access_token']), request);
    const id = await add(labelled, 'a.example');
    const stale = { domain_id: id, set: { advanced: { expires: 9 } }, if_revision: 0 };
    assert.match(JSON.stringify((await mine('domain.change', stale)).body), /label of mine/);
    await operate('operator.transferDomain', {
      ...{ account_id: me.accountId, domain_id: id, to_account_id: other.accountId },
    });
    for (const [name, request] of [
      ['domain.change', stale],
      ['domain.listRevisions', { domain_id: id }],
      ['domain.settings', { domain_id: id }],
      ['audit.list', {}],
    ] as const)
      assert.doesNotMatch(JSON.stringify((await theirs(name, request)).body), /label of mine/, name);
  });

  test('events are read in pages, by time, token and operation', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    for (const remark of ['1', '2', '3', '4']) {
      api.now += 1000;
      await mine('domain.setRemark', { domain_id: id, remark });
    }
    const page = async (request: Record<string, unknown>) => {
      const { list, next } = dataOf(await mine('audit.list', request));
      assert.ok(Array.isArray(list));
      return { times: list.map(({ at }) => (at - api.now) / 1000), next: String(next), list };
    };
    const first = await page({ page_size: 2 });
    assert.deepEqual(first.times, [0, -1]);
    const second = await page({ page_size: 2, before: first.next });
    assert.deepEqual(second.times, [-2, -3]);
    const range = { starttime: String(api.now - 2000), endtime: String(api.now - 1000) };
    assert.deepEqual((await page(range)).times, [-1, -2]);
    assert.deepEqual((await page({ operation: 'domain.add' })).times, [-4]);
    assert.equal((await page({ token_id: first.list[0].token_id })).times.length, 5);
    assert.equal((await page({ token_id: 2_000_000_000 })).times.length, 0);
    const reversed = { starttime: range.endtime, endtime: range.starttime };
    assert.equal((await mine('audit.list', reversed)).errorCode, 'timeRangeReversed');
  });

  test("a command of control's machine is told with the user that it says", async (t) => {
    const api = await startTestApi(t, newDatabase);
    const create = (headers: Record<string, string>) =>
      api.post('/operator/createAccount', { access_token: LOCAL_SECRET, name: 'x' }, headers);
    await create({ 'x-causeway-user': 'alice' });
    await create({ 'x-causeway-user': `${'b'.repeat(100)} \u00e9` });
    await create({});
    const told = (await events(api)).map(({ actor, actor_name, token_id }) => [actor, actor_name, token_id]);
    assert.deepEqual(told, [
      ['local', 'alice', null],
      ['local', 'b'.repeat(64), null],
      ['local', '', null],
    ]);
  });

  test('events are kept for the days of the setting', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    await add(mine, 'a.example');
    api.now += 10 * DAY_MS;
    await add(mine, 'b.example');
    await tidy(api.db, api.now, 10);
    assert.equal((await events(api)).length, 2);
    await tidy(api.db, api.now + 1, 10);
    assert.deepEqual(
      (await events(api)).map(({ target_name }) => target_name),
      ['b.example'],
    );
  });
});

async function events(api: TestApi) {
  return await api.db.query.selectFrom('audit_event').selectAll().orderBy('id').execute();
}

async function newest(api: TestApi): Promise<number> {
  return (await events(api)).at(-1)?.id ?? 0;
}
