/** What operators see at a glance: accounts, health, settings, and domains rejected with a reason. Over HTTP, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMetricText } from '#lib/metric-text.ts';
import { add, dataOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { smsData, startSmsApi } from '../support/sms/sms-customers.ts';

const METRICS = `# HELP causeway_part_up 1 while the part is ready, else 0
causeway_part_up{part="control",process="supervisor"} 1
causeway_part_up{part="edge-worker-1",process="supervisor"} 0
causeway_part_restarts_total{part="edge-worker-1",process="supervisor"} 3
causeway_feed_head_revision{process="control"} 71
causeway_log_lost_lines_total{process="control"} 2
causeway_log_lost_lines_total{process="edge-feed"} 5
causeway_certificates{ends="expired"} 1
causeway_certificates{ends="7d"} 4
causeway_sms_queue_parts{state="queued"} 9
causeway_sms_queue_oldest_seconds{state="queued"} 1.5
`;

describeOnBothEngines('what operators see at a glance', (newDatabase) => {
  test('accounts are listed with what they have, and money is shown to those who may see it', async (t) => {
    const currency = { code: 'CNY', units: 100 };
    const { api, me, operate } = await startSmsApi(t, newDatabase, { currency });
    await api.call('domain.add', me.accessToken, { domain: 'a.example', cdn_type: 1, data: 'o.example' });
    await me.send();
    const own = { account_id: String(me.accountId), domains: 1, apps: 1, tokens: 1, balance: 99, enabled: '1' };
    const money = { currency: 'CNY', currency_units: 100 };
    const { list, total, ...rest } = smsData(await operate('operator.listAccounts', {}));
    assert.ok(Array.isArray(list));
    const row = list.find(({ account_id }) => account_id === String(me.accountId));
    assert.deepEqual({ ...row, ...own }, row, JSON.stringify(row));
    assert.deepEqual([total, rest], [list.length, money]);
    const named = async (name: string) => {
      const found = smsData(await operate('operator.listAccounts', { name, page_size: 1 }));
      return [found['total'], Object(found['list'])[0]?.name];
    };
    await operate('operator.createAccount', { name: 'Ostrich 100%_!' });
    await operate('operator.createAccount', { name: '鸵鸟传媒' });
    assert.deepEqual(await named('oSTRICH'), [1, 'Ostrich 100%_!']);
    assert.deepEqual(await named('0%_!'), [1, 'Ostrich 100%_!']);
    assert.deepEqual(await named('鸟传'), [1, '鸵鸟传媒']);
    assert.deepEqual(await named('0%!'), [0, undefined], 'signs of patterns are letters like any other');
    const operator = await api.join('operator', ['operator']);
    const reader = await api.issue(operator.accountId, { scopes: ['operator'], access: ['read'] });
    const shown = smsData(await api.call('operator.listAccounts', reader, {}));
    assert.equal(JSON.stringify(shown).includes('"balance"'), false);

    const account = { account_id: me.accountId };
    const overview = smsData(await operate('operator.getAccount', account));
    const { sms_apps, ledger, domain_states, token_used_at } = overview;
    assert.deepEqual({ ...overview, ...own, ...money }, overview, JSON.stringify(overview));
    assert.deepEqual(domain_states, { pending: 0, open: 1, closed: 0, rejected: 0, disabled: 0 });
    assert.deepEqual(sms_apps, [{ app_key: me.appKey, name: 'shop', status: 1 }]);
    assert.deepEqual(
      Object(ledger).map(({ kind, amount }: Record<string, unknown>) => [kind, amount]),
      [
        ['hold', -1],
        ['recharge', 100],
      ],
    );
    assert.equal(typeof token_used_at, 'number');
    const less = smsData(await api.call('operator.getAccount', reader, account));
    assert.deepEqual([less['balance'], less['ledger']], [undefined, undefined]);
    assert.equal((await operate('operator.getAccount', { account_id: 999 })).errorCode, 'accountNotFound');
  });

  test('a domain is rejected with a reason, which its customer sees until it is decided anew', async (t) => {
    const { me, mine, theirs, operate, other } = await startWithCustomers(t, newDatabase, { review: 'manual' });
    const id = await add(mine, 'a.example');
    const key = { account_id: me.accountId, domain_id: id };
    const reasonOf = async () => {
      const { domain_status, reject_reason } = dataOf(await mine('domain.get', { domain_id: id }));
      return [domain_status, reject_reason];
    };
    const done = await operate('operator.rejectDomain', { ...key, reason: '备案号与域名不符' });
    assert.equal(done.body['data'], true, JSON.stringify(done.body));
    assert.deepEqual(await reasonOf(), [5, '备案号与域名不符']);
    const [row] = Object(dataOf(await mine('domain.list', {}))['list']);
    assert.equal(row.reject_reason, '备案号与域名不符');
    await operate('operator.rejectDomain', { ...key, reason: 'another reason' });
    assert.deepEqual(await reasonOf(), [5, 'another reason']);
    const [event] = Object(dataOf(await mine('audit.list', {}))['list']);
    assert.deepEqual(event.changed, ['reject_reason']);
    await mine('domain.updateOrigin', { domain_id: id, data: 'another.example' });
    assert.deepEqual(await reasonOf(), [1, undefined], 'it waits for review again');
    await operate('operator.setDomainStatus', { ...key, action: 'reject' });
    assert.deepEqual(await reasonOf(), [5, undefined], 'the former reason is gone');
    await operate('operator.rejectDomain', { ...key, reason: 'x' });
    await operate('operator.setDomainStatus', { ...key, action: 'approve' });
    assert.equal((await reasonOf())[1], undefined);
    for (const [request, code] of [
      [{ ...key, reason: '' }, 'fieldInvalid'],
      [{ ...key, reason: 'a'.repeat(501) }, 'fieldInvalid'],
      [{ ...key, account_id: other.accountId, reason: 'a' }, 'domainNotFound'],
    ] as const)
      assert.equal((await operate('operator.rejectDomain', request)).errorCode, code, JSON.stringify(request));
    await operate('operator.setDomainStatus', { ...key, action: 'disable' });
    const refused = await operate('operator.rejectDomain', { ...key, reason: 'a' });
    assert.equal(refused.errorCode, 'domainStatusRefused');
    assert.equal((await theirs('domain.get', { domain_id: id })).errorCode, 'domainNotFound');
  });

  test('health is what the metrics of the machine say, and what they do not say is absent', async (t) => {
    const at = Date.UTC(2026, 0, 31);
    const readMetrics = async () => ({ at, samples: readMetricText(METRICS, () => true) });
    const { api, operate } = await startSmsApi(t, newDatabase, { readMetrics });
    const { controls, ...health } = smsData(await operate('operator.getHealth', {}));
    assert.deepEqual(controls, []);
    assert.deepEqual(health, {
      at,
      parts: [
        { part: 'control', up: true, restarts: 0 },
        { part: 'edge-worker-1', up: false, restarts: 3 },
      ],
      feed: { head_revision: 71 },
      logs: { lost_lines: 7 },
      database: { engine: api.db.engine },
      certificates: { expired: 1, within_7_days: 4 },
      sms: [{ state: 'queued', parts: 9, oldest_seconds: 1.5 }],
    });
  });

  test('health says so where the service does not answer', async (t) => {
    const { operate } = await startSmsApi(t, newDatabase);
    const { at, parts } = smsData(await operate('operator.getHealth', {}));
    assert.deepEqual([at, parts], [0, []]);
  });

  test('settings are shown with their sources, and secrets only as set or not', async (t) => {
    const settings = [
      { name: 'control-listen', value: '127.0.0.1:8700', source: 'default' },
      { name: 'database-url', value: '***', source: 'DATABASE_URL' },
      { name: 'log-url', value: '', source: 'default' },
    ];
    const { operate } = await startSmsApi(t, newDatabase, { settings });
    assert.deepEqual(smsData(await operate('operator.getSettings', {})), {
      list: [
        { name: 'control-listen', value: '127.0.0.1:8700', state: 'shown', source: 'default' },
        { name: 'database-url', value: '', state: 'hidden', source: 'DATABASE_URL' },
        { name: 'log-url', value: '', state: 'unset', source: 'default' },
      ],
    });
  });
});
