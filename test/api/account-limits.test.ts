/** Limits of accounts over HTTP on both engines: set by operators, in force at once, and read by customers. docs/decisions/0633 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkBandwidth } from '#api/settings/account-bandwidth.ts';
import { START } from '../support/api/api.ts';
import { add, dataOf, SETTINGS, show, specOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { createTestTraffic } from '../support/logs/traffic.ts';

const MINUTE_MS = 60_000;

describeOnBothEngines('limits of an account', (newDatabase) => {
  test('limits of an account replace those of the service, one by one, and are shown with what is used', async (t) => {
    const limits = { domainsPerAccount: 3, purgeUrlsPerDay: 5, purgeDirectoriesPerDay: 4, prefetchUrlsPerDay: 2 };
    const { api, me, mine, theirs, other, operate } = await startWithCustomers(t, newDatabase, { limits });
    const set = (asked: Record<string, unknown>) =>
      operate('operator.setAccountLimits', { account_id: me.accountId, ...asked });
    assert.equal((await set({ domains: 1, purge_urls: 1, over_bandwidth: 'nothing' })).body['data'], true);
    await add(mine, 'a.example');
    assert.equal((await mine('domain.add', { ...SETTINGS, domain: 'b.example' })).errorCode, 'domainLimit');
    for (const name of ['1', '2', '3']) await add(theirs, `${name}.example`);
    assert.equal((await mine('cache.purge', { urls: 'http://a.example/' })).errorCode, undefined);
    const refused = await mine('cache.purge', { urls: 'http://a.example/b' });
    assert.match(String(refused.body['info']), /can purge 1 URLs a day; only 0 remain/);
    assert.deepEqual(dataOf(await mine('account.getLimits', {})), {
      requests_per_second: 0,
      domains: { limit: 1, used: 1 },
      purge_urls: { limit: 1, used: 1 },
      purge_directories: { limit: 4, used: 0 },
      prefetch_urls: { limit: 2, used: 0 },
      bandwidth_mbps: 0,
      over_bandwidth: 'nothing',
      over_since: 0,
    });
    const moved = { account_id: other.accountId, domain_id: 2, to_account_id: me.accountId };
    assert.equal((await operate('operator.transferDomain', moved)).errorCode, 'domainLimit');
    assert.equal((await set({ domains: '' })).body['data'], true);
    assert.equal((await operate('operator.transferDomain', moved)).errorCode, undefined);
    const shown = dataOf(await operate('operator.getAccountLimits', { account_id: me.accountId }));
    assert.deepEqual(
      [shown['domains'], shown['purge_urls']],
      [
        { limit: 3, used: 2 },
        { limit: 1, used: 1 },
      ],
    );
    for (const asked of [
      { domains: -1 },
      { requests_per_second: 0 },
      { bandwidth_mbps: 'x' },
      { over_bandwidth: 'all' },
    ])
      assert.equal((await set(asked)).errorCode, 'fieldInvalid', JSON.stringify(asked));
    const unknown = await operate('operator.setAccountLimits', { account_id: 999, domains: 1 });
    assert.equal(unknown.errorCode, 'accountNotFound');
    assert.equal((await api.call('operator.setAccountLimits', me.accessToken, {})).http, 404);
  });

  test('requests of an account are limited over all its tokens, and answers say so', async (t) => {
    const { api, me, mine, theirs, operate } = await startWithCustomers(t, newDatabase);
    await operate('operator.setAccountLimits', { account_id: me.accountId, requests_per_second: 2 });
    const second = await api.issue(me.accountId, { scopes: ['cdn'] });
    const answers = [];
    for (const token of [me.accessToken, second, me.accessToken, second, second])
      answers.push(await api.call('domain.list', token, {}));
    assert.deepEqual(
      answers.map(({ http }) => http),
      [200, 200, 200, 200, 429],
    );
    assert.match(answers[0]?.headers.get('ratelimit-policy') ?? '', /^"token";q=\d+;w=\d+, "account";q=4;w=2$/);
    assert.match(answers[4]?.headers.get('ratelimit') ?? '', /, "account";r=0;t=2$/);
    assert.equal((await theirs('domain.list', {})).http, 200);
    api.passedMs += 500;
    assert.equal((await mine('domain.list', {})).http, 200);
    await operate('operator.setAccountLimits', { account_id: me.accountId, requests_per_second: '' });
    assert.equal((await mine('domain.list', {})).http, 200);
  });

  test('domains of an account over its bandwidth are refused by edges, and served when it is within', async (t) => {
    const { api, me, mine, theirs, operate } = await startWithCustomers(t, newDatabase);
    const [first, second] = [await add(mine, 'a.example'), await add(mine, 'b.example')];
    await add(theirs, 'theirs.example');
    await mine('domain.setStatus', { domain_id: second, domain_status: 0 });
    const before = await show(mine, first);
    const set = (asked: Record<string, unknown>) =>
      operate('operator.setAccountLimits', { account_id: me.accountId, ...asked });
    const statesOf = async () => {
      await checkBandwidth(api.db, api.now);
      const specs = await Promise.all(['a.example', 'b.example', 'theirs.example'].map((name) => specOf(api, name)));
      return specs.map((spec) => Object(spec).state);
    };
    api.now = START + 5 * MINUTE_MS; // traffic from before a domain was there is not counted
    // 10 Mbit/s over five minutes.
    const traffic = createTestTraffic(t, api.db);
    for (const minute of [1, 2, 3, 4, 5])
      await traffic.addCounts(Number(first), api.now - minute * MINUTE_MS, { bytesOut: 75_000_000 });
    await set({ bandwidth_mbps: 10 });
    assert.deepEqual(await statesOf(), ['open', 'closed', 'open'], 'it is not over 10');
    await set({ bandwidth_mbps: 9 });
    assert.deepEqual(await statesOf(), ['open', 'closed', 'open'], 'nothing is the default');
    assert.equal(dataOf(await mine('account.getLimits', {}))['over_since'], api.now / 1000);
    await set({ over_bandwidth: 'refuse' });
    assert.deepEqual(await statesOf(), ['accountLimit', 'closed', 'open']);
    const shown = await show(mine, first);
    assert.deepEqual([shown['revision'], shown['domain_status']], [before['revision'], before['domain_status']]);
    await mine('config.setUserAgent', { domain_id: first, ua_control: 1, ua_str: 'x' });
    assert.equal(Object(await specOf(api, 'a.example')).state, 'accountLimit', 'a change of settings keeps it');
    await add(mine, 'late.example');
    await statesOf();
    assert.equal(Object(await specOf(api, 'late.example')).state, 'accountLimit');
    api.now += 5 * MINUTE_MS;
    assert.deepEqual(await statesOf(), ['open', 'closed', 'open']);
    assert.equal(Object(await specOf(api, 'late.example')).state, 'open');
    assert.equal(dataOf(await mine('account.getLimits', {}))['over_since'], 0);
    const events = await api.db.query
      .selectFrom('event')
      .select(['kind', 'account_id', 'data'])
      .orderBy('id')
      .execute();
    assert.deepEqual(
      events.map(({ kind, account_id, data }) => [kind, account_id, JSON.parse(data)]),
      [
        ['bandwidth.over', me.accountId, { mbps: 10, limit: 9 }],
        ['bandwidth.within', me.accountId, { mbps: 2, limit: 9 }],
      ],
    );
  });

  test('a burst counts in its own minute, and steady traffic at the turn of one, before all of it is reported', async (t) => {
    const { api, me, mine, operate } = await startWithCustomers(t, newDatabase);
    const domain = Number(await add(mine, 'a.example'));
    const isOver = async () => {
      await checkBandwidth(api.db, api.now);
      return dataOf(await mine('account.getLimits', {}))['over_since'] !== 0;
    };
    const traffic = createTestTraffic(t, api.db);
    await operate('operator.setAccountLimits', { account_id: me.accountId, bandwidth_mbps: 10 });
    const start = START + 5 * MINUTE_MS;
    api.now = start + 20_000;
    await traffic.addCounts(domain, api.now, { bytesOut: 375_000_000 });
    assert.equal(await isOver(), false, '10 Mbit/s are not over 10');
    await traffic.addCounts(domain, api.now, { bytesOut: 10_000_000 });
    assert.equal(await isOver(), true);
    api.now = start + 10 * MINUTE_MS;
    assert.equal(await isOver(), false);
    const half = (minute: number) => traffic.addCounts(domain, start + minute * MINUTE_MS, { bytesOut: 40_000_000 });
    for (const minute of [10, 11, 12, 13, 14, 15, 16, 17, 18]) {
      api.now = start + minute * MINUTE_MS + 5000;
      assert.equal(await isOver(), minute > 15, `at the beginning of minute ${minute}`);
      if (minute > 10) await half(minute - 1);
      await half(minute);
      api.now += 30_000;
      assert.equal(await isOver(), minute > 14, `in minute ${minute}`);
    }
  });
});
