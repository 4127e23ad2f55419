/** `/operator/*` over HTTP on both engines: accounts, tokens, transfers, and the callers that are refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RouteName } from '#contract/routes.ts';
import { ROUTE_NAMES, ROUTES } from '#contract/routes.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { LOCAL_SECRET, START } from '../support/api/api.ts';
import { add, dataOf, SETTINGS, show, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';

describeOnBothEngines('operators', (newDatabase) => {
  test('operators make accounts and tokens, list, narrow and revoke them', async (t) => {
    const { api, operate } = await startWithCustomers(t, newDatabase);
    const accountId = dataOf(await operate('operator.createAccount', { name: '示例传媒' }))['account_id'];
    const made = dataOf(
      await operate('operator.createToken', {
        account_id: accountId,
        scopes: ['cdn', 'sms', 'cdn'],
        label: 'deploy',
        expires_at: START / 1000 + 60,
      }),
    );
    const token = String(made['access_token']);
    assert.match(token, /^cwy_[\w-]{43}$/);
    const key = { account_id: accountId, token_id: made['token_id'] };
    const asHolder = (name: RouteName, request = {}) => api.call(name, token, request);
    await add(asHolder, 'a.example');

    const listed = await operate('operator.listTokens', { account_id: accountId });
    assert.deepEqual(dataOf(listed)['list'], [
      {
        token_id: made['token_id'],
        label: 'deploy',
        scopes: ['cdn', 'sms'],
        access: ['read', 'write', 'manage', 'money'],
        domain_ids: [],
        create_time: '2026-01-31 12:00:00',
        expire_time: '2026-01-31 12:01:00',
        revoke_time: '',
        last_used_time: '',
        addresses: [],
      },
    ]);
    assert.equal(JSON.stringify(listed.body).includes(token), false);

    const widened = await operate('operator.narrowToken', { ...key, scopes: ['cdn', 'operator'] });
    assert.deepEqual([widened.errorCode, widened.body['data']], ['scopesWidened', false]);
    assert.equal((await operate('operator.narrowToken', { ...key, scopes: ['sms'] })).body['data'], true);
    const narrowed = await asHolder('domain.list');
    assert.deepEqual([narrowed.http, narrowed.errorCode], [200, 'scopeMissing']);
    assert.match(String(narrowed.body['info']), /scope cdn/);

    api.now += 60_000;
    assert.equal((await asHolder('domain.list')).errorCode, 'tokenExpired');
    assert.equal((await operate('operator.revokeToken', key)).body['data'], true);
    assert.equal((await asHolder('domain.list')).errorCode, 'tokenRevoked');

    const { total, list } = dataOf(await operate('operator.listAccounts', { page_size: 3 }));
    assert.ok(Array.isArray(list));
    assert.deepEqual([total, list.length], [4, 3]);
    const page = dataOf(await operate('operator.listAccounts', { page_size: 3, page: 2 }));
    assert.deepEqual(page['list'], [
      {
        ...{ account_id: accountId, name: '示例传媒', kind: 'customer', create_time: '2026-01-31 12:00:00' },
        ...{ enabled: '1', domains: 1, apps: 0, tokens: 0, balance: 0 },
      },
    ]);
  });

  test('operators get the reason of a refusal, and nothing changes', async (t) => {
    const { me, other, mine, operate, api } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const mineIs = { account_id: me.accountId };
    const rows: readonly [RouteName, Record<string, unknown>, string][] = [
      ['operator.createToken', { account_id: 999, scopes: ['cdn'] }, 'accountNotFound'],
      ['operator.createToken', { ...mineIs, scopes: ['operator'] }, 'scopesRefused'],
      ['operator.createToken', { account_id: 3, scopes: ['operator', 'cdn'] }, 'scopesRefused'],
      ['operator.createToken', { ...mineIs, scopes: [] }, 'fieldInvalid'],
      ['operator.createToken', { ...mineIs, scopes: ['root'] }, 'fieldInvalid'],
      ['operator.createToken', { ...mineIs, scopes: 'cdn' }, 'fieldInvalid'],
      ['operator.createToken', { ...mineIs, scopes: ['cdn'], expires_at: START / 1000 }, 'expiryPast'],
      ['operator.createToken', { ...mineIs, scopes: ['cdn'], expires_at: START }, 'fieldInvalid'],
      ['operator.createToken', { ...mineIs, scopes: ['cdn'], expires_at: 253_402_300_799 }, 'fieldInvalid'],
      ['operator.listTokens', { account_id: 999 }, 'accountNotFound'],
      ['operator.setAccountStatus', { account_id: 999, enabled: 0 }, 'accountNotFound'],
      ['operator.setAccountStatus', { account_id: 3, enabled: 0 }, 'accountOwn'],
      ['operator.revokeToken', { ...mineIs, token_id: 2 }, 'tokenNotFound'],
      ['operator.revokeToken', { account_id: other.accountId, token_id: 1 }, 'tokenNotFound'],
      ['operator.narrowToken', { ...mineIs, token_id: 999, scopes: ['cdn'] }, 'tokenNotFound'],
      ['operator.setDomainStatus', { account_id: other.accountId, domain_id: id, action: 'reject' }, 'domainNotFound'],
      ['operator.setDomainStatus', { ...mineIs, domain_id: 999, action: 'disable' }, 'domainNotFound'],
      ['operator.setDomainStatus', { ...mineIs, domain_id: id, action: 'close' }, 'fieldInvalid'],
      ['operator.transferDomain', { ...mineIs, domain_id: id, to_account_id: 999 }, 'accountNotFound'],
      ['operator.transferDomain', { ...mineIs, domain_id: id, to_account_id: 3 }, 'accountNotCustomer'],
      [
        'operator.transferDomain',
        { account_id: other.accountId, domain_id: id, to_account_id: me.accountId },
        'domainNotFound',
      ],
    ];
    const { revision } = await readConfigHead(api.db.query);
    for (const [name, request, code] of rows) {
      const answer = await operate(name, request);
      assert.equal(answer.errorCode, code, `${name} ${JSON.stringify(request)} → ${JSON.stringify(answer.body)}`);
      assert.equal(answer.http, 200);
    }
    assert.equal((await readConfigHead(api.db.query)).revision, revision);
    assert.equal((await show(mine, id))['domain_status'], 1);
    assert.equal((await api.db.query.selectFrom('token').selectAll().execute()).length, 3);
  });

  test('operators find a domain among those of every account', async (t) => {
    const { api, me, other, mine, theirs, operate } = await startWithCustomers(t, newDatabase);
    const ids = [
      await add(mine, 'example.com'),
      await add(theirs, 'www.example.com'),
      await add(theirs, '*.例子.com'),
      await add(mine, 'shop.example'),
    ];
    const [first, second, third, fourth] = ids;
    await mine('domain.setStatus', { domain_id: fourth, domain_status: 0 });
    const rows: readonly [Record<string, unknown>, readonly unknown[], number?][] = [
      [{}, ids],
      [{ name: 'EXAMPLE.com' }, [first, second]],
      [{ name: 'Example.com', exact: 1 }, [first]],
      [{ name: 'example.com', exact: 0 }, [first, second]],
      [{ name: '*.例子.com', exact: '1' }, [third]],
      [{ exact: 1 }, ids],
      [{ name: '', exact: 1 }, ids],
      [{ account_id: other.accountId }, [second, third]],
      [{ account_id: me.accountId, name: 'www' }, []],
      [{ domain_status: 0 }, [fourth]],
      [{ page: 2, page_size: 3 }, [fourth], 4],
    ];
    for (const [request, expected, total = expected.length] of rows) {
      const data = dataOf(await operate('operator.listDomains', request));
      assert.ok(Array.isArray(data['list']));
      const found = data['list'].map((domain: Record<string, unknown>) => domain['domain_id']);
      assert.deepEqual([found, data['total']], [expected, total], JSON.stringify(request));
    }
    const { list } = dataOf(await operate('operator.listDomains', { name: 'www.example.com', exact: 1 }));
    const { html_403: _page, ...row } = await show(theirs, String(second));
    assert.deepEqual(list, [{ account_id: String(other.accountId), ...row }]);
    assert.equal((await operate('operator.listDomains', { account_id: 999 })).errorCode, 'accountNotFound');
    assert.equal((await api.call('operator.listDomains', me.accessToken, {})).http, 404);
  });

  test('operators move a domain to another customer, with its id and its state, unless names would overlap', async (t) => {
    const limits = { domainsPerAccount: 5 };
    const { api, me, other, mine, theirs, operate } = await startWithCustomers(t, newDatabase, { limits });
    for (const name of ['1', '2', '3', '4']) await add(theirs, `${name}.example`);
    const free = await add(mine, 'free.example');
    await add(mine, '*.own.example');
    const covered = await add(mine, 'a.own.example');
    const wide = await add(mine, '*.wide.example');
    await add(mine, 'late.wide.example');
    await api.acknowledge('edge');
    const move = (domainId: string) =>
      operate('operator.transferDomain', {
        account_id: me.accountId,
        domain_id: domainId,
        to_account_id: other.accountId,
      });
    assert.equal((await move(free)).body['data'], true);
    assert.equal((await mine('domain.get', { domain_id: free })).errorCode, 'domainNotFound');
    assert.equal((await show(theirs, free))['domain_status'], 2, 'edges need not hear of it');
    assert.equal((await move(free)).errorCode, 'domainNotFound', 'it is not there any more');
    assert.equal((await move(covered)).errorCode, 'domainNameTaken', 'the first account keeps the wildcard over it');
    assert.equal((await move(wide)).errorCode, 'domainNameTaken', 'the first account keeps a name under it');
    const oneTooMany = await add(mine, 'more.example');
    assert.equal((await move(oneTooMany)).errorCode, 'domainLimit');
    assert.equal((await show(mine, covered))['domain_name'], 'a.own.example');
    const toItself = { account_id: me.accountId, domain_id: covered, to_account_id: me.accountId };
    assert.equal((await operate('operator.transferDomain', toItself)).body['data'], true);
  });

  test('operators alone see /operator/*: to a customer it is a path that does not exist', async (t) => {
    const { api, me, mine } = await startWithCustomers(t, newDatabase);
    const unknown = await api.post('/operator/nothing', { access_token: me.accessToken });
    const plain = (headers: Headers) => [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name));
    for (const name of ROUTE_NAMES.filter((route) => ROUTES[route].scope === 'operator')) {
      for (const request of [{}, { account_id: me.accountId, domain_id: 1, token_id: 1 }]) {
        const answer = await api.post(ROUTES[name].path, { access_token: me.accessToken, ...request });
        assert.deepEqual([answer.http, answer.body], [404, unknown.body], name);
        assert.deepEqual(plain(answer.headers), plain(unknown.headers), name);
      }
    }
    const operator = await api.join('operator', ['operator']);
    const refused = await api.call('domain.add', operator.accessToken, { ...SETTINGS, domain: 'a.example' });
    assert.deepEqual([refused.http, refused.errorCode], [200, 'scopeMissing']);
    assert.equal(dataOf(await mine('domain.list', {}))['total'], 0);
    // The first token of an installation has both until it is narrowed.
    const first = await api.join('operator', ['cdn', 'sms', 'operator']);
    const asFirst = (name: RouteName, request: Record<string, unknown>) => api.call(name, first.accessToken, request);
    await add(asFirst, 'b.example');
    assert.equal((await asFirst('operator.listAccounts', {})).body['status'], 1);
  });

  test('operators of this machine need only the local secret', async (t) => {
    const { api } = await startWithCustomers(t, newDatabase);
    assert.equal((await api.call('operator.createAccount', LOCAL_SECRET, { name: 'x' })).body['status'], 1);
    assert.equal((await api.call('domain.list', LOCAL_SECRET, {})).errorCode, 'scopeMissing');
    const forwarded = await api.post(
      '/operator/listAccounts',
      { access_token: LOCAL_SECRET },
      { 'x-forwarded-for': '127.0.0.1' },
    );
    assert.equal(forwarded.errorCode, 'tokenUnknown', 'a proxy speaks for somebody else');
  });
});
