/** The status of SMS services, what customers see and set of them, and what operators do for them: over HTTP, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROUTES } from '#contract/routes.ts';
import { listConnectors, openSettings } from '#db/tables/sms/connectors.ts';
import { storeReplies } from '#db/tables/sms/replies.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { balanceOf, codeOf, type SmsCustomer, smsData, startSmsApi } from '../support/sms/sms-customers.ts';
import { checkMoney, readParts } from '../support/sms/sms-queue.ts';

const HOUR_MS = 3_600_000;

describeOnBothEngines('SMS services', (newDatabase) => {
  test('the status of a service is toggled, or set to the one that is named, once per timestamp', async (t) => {
    const { api, me, join } = await startSmsApi(t, newDatabase);
    const other = await join(5);
    const update = async (request: Record<string, unknown>) => {
      const { http, body } = await me.call('sms.updateStatus', { app_key: me.appKey, time: api.now, ...request });
      assert.equal(http, 200);
      assert.deepEqual(Object.keys(body), ['status', 'info', 'data']);
      return [body['status'], body['data']];
    };
    assert.deepEqual(await update({}), [1000, { status: 0 }]);
    assert.deepEqual(await update({}), [1000, { status: 0 }], 'the same once more');
    assert.deepEqual(await update({ status: 1 }), [1000, { status: 0 }], 'also when it names another');
    assert.equal(codeOf(await me.send()), 2010);
    assert.deepEqual(await update({ time: api.now + 1 }), [1000, { status: 1 }], 'a disabled one can be enabled');
    assert.equal(codeOf(await me.send()), 1000);
    assert.deepEqual(await update({ time: api.now + 2, status: 1 }), [1000, { status: 1 }]);
    assert.deepEqual(await update({ time: api.now + 3, status: '0' }), [1000, { status: 0 }]);
    const both = await Promise.all([1, 2, 3].map(() => update({ time: api.now + 4 })));
    assert.deepEqual(both, Array(3).fill([1000, { status: 1 }]), 'also at the same moment');

    const nothing: readonly [Record<string, unknown>, number][] = [
      [{ time: undefined }, 2001],
      [{ app_key: undefined }, 2001],
      [{ status: 2 }, 2001],
      [{ status: true }, 2001],
      [{ time: api.now + 300_001 }, 2012],
      [{ app_key: other.appKey }, 2009],
      [{ app_key: 'none' }, 2009],
    ];
    for (const [request, code] of nothing)
      assert.deepEqual(await update({ time: api.now + 5, ...request }), [code, {}], JSON.stringify(request));
    const path = ROUTES['sms.updateStatus'].path;
    const asked = { app_key: me.appKey, time: api.now };
    const wrong = await api.post(path, { ...asked, access_token: 'wrong' });
    assert.deepEqual([wrong.body['status'], wrong.body['data']], [2013, {}]);
    const cdn = await api.join('customer', ['cdn']);
    const foreign = await api.post(path, { ...asked, access_token: cdn.accessToken });
    assert.deepEqual([foreign.body['status'], foreign.body['data']], [2003, {}]);
  });

  test('a change of the status is remembered for as long as its timestamp is valid', async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase, { smsTimeWindowSeconds: 24 * 3600 });
    const update = async (time: number) => smsData(await me.call('sms.updateStatus', { app_key: me.appKey, time }));
    const time = api.now + 24 * HOUR_MS;
    assert.deepEqual(await update(time), { status: 0 });
    api.now += 47 * HOUR_MS;
    assert.deepEqual(await update(api.now), { status: 1 });
    assert.deepEqual(await update(time), { status: 0 }, 'the same once more, a day after its time');
    assert.equal(smsData(await me.call('sms.getSettings', { app_key: me.appKey }))['status'], 1);
  });

  test('a disabled account is refused with 2005 by every operation, until it is enabled again', async (t) => {
    const { api, me, operate } = await startSmsApi(t, newDatabase);
    await operate('operator.setAccountStatus', { account_id: me.accountId, enabled: 0 });
    assert.equal(codeOf(await me.send()), 2005);
    const update = await me.call('sms.updateStatus', { app_key: me.appKey, time: api.now });
    const list = await me.call('domain.list');
    assert.deepEqual(
      [update.body['status'], update.errorCode, list.body['status'], list.errorCode],
      [2005, 'accountDisabled', 0, 'accountDisabled'],
    );
    await operate('operator.setAccountStatus', { account_id: me.accountId, enabled: 1 });
    assert.equal(codeOf(await me.send()), 1000);
  });

  test('advertising waits for the hours of its service, and does not go to numbers that opted out', async (t) => {
    const { api, me, operate, join } = await startSmsApi(t, newDatabase);
    const other = await join(5);
    api.now += 11 * HOUR_MS; // 23:00 in Shanghai
    await me.call('sms.addOptOuts', { mobile: ['13900139000'] });
    const sent = await me.advertise();
    assert.equal(codeOf(sent), 1000);
    assert.equal(codeOf(await me.send({ mobile: '13900139000' })), 1000, 'an ordinary message is not advertising');
    assert.equal(await balanceOf(me), 98, 'who has opted out is not charged');
    const [waiting, rejected, ordinary] = await readParts(api.db);
    const opening = api.now + 9 * HOUR_MS;
    assert.deepEqual(
      [waiting?.state, waiting?.due_at, waiting?.expire_at, waiting?.priority],
      ['queued', opening, opening + 72 * HOUR_MS, 1],
    );
    assert.deepEqual([rejected?.state, rejected?.error], ['rejected', 'optOut']);
    assert.deepEqual([ordinary?.due_at, ordinary?.priority], [api.now, 0]);
    const { numbers } = smsData(await me.call('sms.getStatus', { sendid: sent.body['sendid'] }));
    assert.ok(Array.isArray(numbers));
    assert.deepEqual(
      numbers.map(({ mobile, status, price }) => [mobile, status, price]),
      [
        ['+8613800138000', 'queued', 1],
        ['+8613900139000', 'rejected', 0],
      ],
    );
    await me.call('sms.addOptOuts', { mobile: '13800138000' });
    assert.equal(await balanceOf(me), 99, 'what waits is not sent any more, and given back');
    await operate('smsOperator.setOptOuts', { mobile: '13700137000', opted_out: 1 });
    assert.equal(codeOf(await other.advertise({ mobile: '13700137000,13900139000' })), 1000);
    assert.equal(await balanceOf(other), 4, "an operator's list is everybody's, another account's nobody else's");
    const everybody = smsData(await operate('smsOperator.getOptOuts', {}));
    const since = { create_time: '2026-01-31 23:00:00', created_at: api.now };
    assert.deepEqual(everybody, { list: [{ mobile: '+8613700137000', ...since }], next: '' });
    const outs = smsData(await me.call('sms.getOptOuts', { page_size: 1 }));
    assert.deepEqual(
      [outs['next'], smsData(await me.call('sms.getOptOuts', { after: outs['next'] }))['next']],
      ['+8613800138000', ''],
    );
    const remove = async (mobile: string) => (await me.call('sms.removeOptOuts', { mobile })).body['data'];
    assert.deepEqual([await remove('13800138000,13900139000'), await remove('13800138000')], [true, false]);
    const again = async (mobile: string) =>
      (await operate('smsOperator.setOptOuts', { mobile, opted_out: 0 })).body['data'];
    assert.deepEqual([await again('13800138000'), await again('13800138000,13700137000')], [false, true]);
    await me.call('sms.setSettings', { app_key: me.appKey, marketing_hours: 'off', suffix: '回T', validity_hours: 1 });
    assert.equal(codeOf(await me.advertise({ content: 'a' })), 1000);
    const last = (await readParts(api.db)).at(-1);
    assert.deepEqual([last?.due_at, last?.expire_at, last?.text], [api.now, api.now + HOUR_MS, 'a回T']);
    assert.equal((await me.call('sms.addOptOuts', { mobile: '1' })).errorCode, 'mobileInvalid');
    await checkMoney(api.db);
  });

  test("settings and webhooks are stored side by side; another account's service does not exist", async (t) => {
    const { me, join } = await startSmsApi(t, newDatabase);
    const other = await join(5);
    const app_key = me.appKey;
    const hook = smsData(await me.call('sms.setWebhook', { app_key, url: 'https://shop.example/a' }));
    assert.match(String(hook['secret']), /^[0-9a-f]{64}$/);
    const settings = { marketing_hours: '22:00-06:00', time_zone: 'Europe/Berlin', bare_international: '1' };
    await me.call('sms.setSettings', { app_key, ...settings, resend_uncertain: 1 });
    const shown = smsData(await me.call('sms.getSettings', { app_key }));
    assert.deepEqual(shown, {
      ...{ app_key, name: 'shop', status: 1, ...settings, suffix: '', resend_uncertain: '1', validity_hours: 72 },
    });
    assert.equal(codeOf(await me.send({ mobile: '85261234567' })), 1000);
    const moved = await me.call('sms.setWebhook', { app_key, url: 'https://shop.example/b' });
    assert.equal(smsData(moved)['secret'], hook['secret']);
    const rotated = await me.call('sms.setWebhook', { app_key, url: 'https://shop.example/b', rotate: 1 });
    assert.notEqual(smsData(rotated)['secret'], hook['secret']);
    assert.deepEqual(smsData(await me.call('sms.getWebhook', { app_key })), smsData(rotated));
    await me.call('sms.setWebhook', { app_key, url: '' });
    assert.deepEqual(smsData(await me.call('sms.getWebhook', { app_key })), { url: '', secret: '' });
    assert.deepEqual(smsData(await me.call('sms.getSettings', { app_key })), shown);
    for (const marketing_hours of ['8-22', '08:00-08:00', '24:00-08:00'])
      assert.equal((await me.call('sms.setSettings', { app_key, marketing_hours })).errorCode, 'fieldInvalid');
    for (const name of [
      'sms.getSettings',
      'sms.setSettings',
      'sms.getWebhook',
      'sms.setWebhook',
      'sms.list',
    ] as const) {
      const answer = await other.call(name, { app_key, url: '' });
      assert.deepEqual([answer.body['status'], answer.errorCode], [2009, 'smsAppNotFound'], name);
    }
  });

  test('a webhook address that nothing may be posted to is refused', async (t) => {
    const sms = {
      onAccepted: () => {},
      onConnectorsChanged: async () => {},
      refusedAddress: (url: string) => (url.includes('//10.') ? '10.0.0.1' : undefined),
    };
    const { me } = await startSmsApi(t, newDatabase, { sms });
    const set = (url: string) => me.call('sms.setWebhook', { app_key: me.appKey, url });
    await set('https://shop.example/a');
    const { body, errorCode } = await set('http://10.0.0.1/a');
    assert.equal(errorCode, 'entryInvalid');
    assert.match(
      String(body['info']),
      /^field url is invalid: expected a URL .*, but "10\.0\.0\.1" is an address that this service posts nothing to unless its operator allows it \(sms-webhook-allow\)$/,
    );
    const kept = smsData(await me.call('sms.getWebhook', { app_key: me.appKey }));
    assert.equal(kept['url'], 'https://shop.example/a');
  });

  test('requests are listed newest first, and only to their account', async (t) => {
    const { me, join } = await startSmsApi(t, newDatabase);
    const other = await join(5);
    const sendids: unknown[] = [];
    for (let n = 0; n < 3; n += 1) sendids.unshift((await me.advertise()).body['sendid']);
    const first = smsData(await me.call('sms.list', { app_key: me.appKey, before: '', page_size: 2 }));
    const rest = smsData(await me.call('sms.list', { before: first['next'], page_size: 2 }));
    const lists = [first, rest].map(({ list }) => (Array.isArray(list) ? list : []));
    assert.deepEqual(
      lists.map((list) => list.map(({ sendid, numbers, parts, price }) => [sendid, numbers, parts, price])),
      [sendids.slice(0, 2).map((id) => [id, 2, 2, 2]), [[sendids[2], 2, 2, 2]]],
    );
    assert.equal(rest['next'], '');
    assert.deepEqual(smsData(await other.call('sms.list')), { list: [], next: '' });
    for (const answer of [
      await other.call('sms.getStatus', { sendid: sendids[0] }),
      await me.call('sms.getStatus', { sendid: 'none' }),
      await other.call('sms.list', { before: sendids[0] }),
    ])
      assert.deepEqual([answer.body['status'], answer.errorCode], [2001, 'sendidNotFound']);
  });

  test('operators set prices, recharge and read the ledger', async (t) => {
    const { api, me, operate } = await startSmsApi(t, newDatabase, { balance: 20 });
    await operate('smsOperator.setPrice', { kind: 'ordinary', prefix: '+852', price: 8 });
    await operate('smsOperator.setPrice', { kind: 'ordinary', price: 3 });
    assert.equal(codeOf(await me.send({ mobile: '+85261234567' })), 1000);
    assert.equal(codeOf(await me.send()), 1000);
    assert.equal(await balanceOf(me), 9);
    const without = async () => (await operate('smsOperator.setPrice', { kind: 'ordinary', prefix: '+852' })).errorCode;
    assert.deepEqual([await without(), await without()], [undefined, 'smsPriceNotFound']);
    assert.equal(codeOf(await me.send({ mobile: '+85261234567' })), 1000, 'the shorter prefix counts again');
    assert.equal((await operate('smsOperator.setPrice', { kind: 'ordinary' })).errorCode, 'fieldMissing');
    const account_id = me.accountId;
    const recharge = (amount: unknown) => operate('smsOperator.recharge', { account_id, amount });
    assert.deepEqual(smsData(await recharge('-6')), { balance: 0 });
    assert.equal((await recharge(-1)).errorCode, 'rechargeRefused');
    assert.deepEqual(smsData(await recharge(Number.MAX_SAFE_INTEGER)), { balance: Number.MAX_SAFE_INTEGER });
    assert.equal((await recharge(1)).errorCode, 'rechargeRefused');
    await recharge(-Number.MAX_SAFE_INTEGER);
    const ledger = smsData(await operate('smsOperator.listLedger', { account_id, before: '', page_size: 4 }));
    const list = Array.isArray(ledger['list']) ? ledger['list'] : [];
    assert.deepEqual(
      list.map(({ kind, amount, mobile }) => [kind, amount, mobile]),
      [
        ['recharge', -Number.MAX_SAFE_INTEGER, ''],
        ['recharge', Number.MAX_SAFE_INTEGER, ''],
        ['recharge', -6, ''],
        ['hold', -3, '+85261234567'],
      ],
    );
    const before = list.at(-1)?.entry_id;
    const older = smsData(await operate('smsOperator.listLedger', { account_id, before }))['list'];
    assert.equal(Array.isArray(older) && older.length, 3);
    const operator = await api.join('operator', ['operator']);
    for (const [asked, code] of [
      [{ account_id: 999_999 }, 'accountNotFound'],
      [{ account_id: operator.accountId }, 'accountNotCustomer'],
      [{}, undefined],
    ] as const)
      assert.equal((await operate('smsOperator.createApp', { name: 'a', ...asked })).errorCode, code, 'the only one');
    await api.join('customer', ['sms']);
    assert.equal((await operate('smsOperator.createApp', { name: 'a' })).errorCode, 'accountNotNamed');
    await checkMoney(api.db);
  });

  test('a recharge with a reference counts once, even if it is sent twice at the same time', async (t) => {
    const { api, me, operate, join } = await startSmsApi(t, newDatabase, { balance: 0 });
    const other = await join(0);
    const recharge = (amount: number, reference?: string, account_id = me.accountId) =>
      operate('smsOperator.recharge', { account_id, amount, reference });
    const answers = await Promise.all(Array.from({ length: 5 }, () => recharge(10, 'invoice 7')));
    for (const answer of answers) assert.deepEqual(smsData(answer), { balance: 10 });
    const repeated = await recharge(11, 'invoice 7');
    assert.deepEqual([repeated.errorCode, /of 10/.test(String(repeated.body['info']))], ['rechargeRepeated', true]);
    assert.deepEqual(smsData(await recharge(10, 'invoice 7', other.accountId)), { balance: 10 }, 'of another account');
    assert.deepEqual(smsData(await recharge(10)), { balance: 20 }, 'without one it is added again');
    const { list } = smsData(await operate('smsOperator.listLedger', { account_id: me.accountId }));
    assert.deepEqual(Array.isArray(list) && list.map(({ reference }) => reference), ['', 'invoice 7']);
    await checkMoney(api.db);
  });

  test('replies are listed to the account that wrote to the number last, a long one in its parts', async (t) => {
    const { api, me, join } = await startSmsApi(t, newDatabase);
    const other = await join(5);
    const reply = (origin: string, text: string, piece?: { reference: number; part: number; parts: number }) =>
      api.db.transaction((trx) =>
        storeReplies(trx, [{ connectorId: 1, origin, text, isOptOut: false, ...(piece && { piece }) }], api.now),
      );
    await me.send();
    await reply('+8613800138000', 'first');
    await reply('+8613800138000', 'long', { reference: 7, part: 2, parts: 3 });
    await reply('+8613900139000', 'to nobody');
    await other.send();
    await reply('+8613800138000', 'to the other');
    const page = async (customer: SmsCustomer, request = {}) => {
      const { list, next } = smsData(await customer.call('sms.listReplies', request));
      assert.ok(Array.isArray(list));
      return { texts: list.map(({ text }) => text), list, next };
    };
    const newest = await page(me, { before: '', page_size: 1 });
    assert.deepEqual(newest.list[0], {
      ...{ reply_id: newest.next, app_key: me.appKey, mobile: '+8613800138000', text: 'long' },
      ...{ create_time: '2026-01-31 12:00:00', created_at: api.now, reference: 7, part: 2, parts: 3 },
    });
    assert.deepEqual((await page(me, { before: newest.next, app_key: me.appKey })).texts, ['first']);
    assert.deepEqual((await page(other)).texts, ['to the other']);
    assert.equal((await me.call('sms.listReplies', { app_key: other.appKey })).errorCode, 'smsAppNotFound');
  });

  test('operators set connectors and routes; passwords are stored sealed, and waiting messages follow their route', async (t) => {
    const noted: string[] = [];
    const sms = {
      onAccepted: () => void noted.push('accepted'),
      onConnectorsChanged: async () => void noted.push('changed'),
    };
    const { api, me, operate } = await startSmsApi(t, newDatabase, { sms });
    const set = (request: Record<string, unknown>) => operate('smsOperator.setConnector', { name: 'hk', ...request });
    for (const field of ['host', 'port', 'system_id']) {
      const { [field]: _, ...rest } = { host: 'smsc.example', port: 2775, system_id: 'shop' } as Record<
        string,
        unknown
      >;
      const answer = await set(rest);
      assert.equal(answer.errorCode, 'fieldMissing');
      assert.match(String(answer.body['info']), new RegExp(`field ${field} is missing`));
    }
    for (const field of ['host', 'system_id', 'password', 'system_type', 'sender']) {
      const answer = await set({ host: 'smsc.example', port: 2775, system_id: 'shop', [field]: '商店' });
      assert.deepEqual(
        [answer.errorCode, /商店/.test(String(answer.body['info']))],
        ['fieldInvalid', field !== 'password'],
      );
    }
    await set({ host: 'smsc.example', port: 2775, system_id: 'shop', password: 'hush!', rate: 50, tls: 1 });
    await set({ window: 20, enquire_seconds: 5, enabled: 0 });
    const { list } = smsData(await operate('smsOperator.listConnectors', {}));
    const [, shown] = Array.isArray(list) ? list : [];
    assert.doesNotMatch(JSON.stringify(list), /hush/);
    assert.deepEqual(
      [shown.name, shown.host, shown.window, shown.rate, shown.enabled, shown.tls, shown.receipt_ids],
      ['hk', 'smsc.example', 20, 50, '0', '1', 'auto'],
    );
    const [, row] = await api.db.query.selectFrom('sms_connector').selectAll().orderBy('id').execute();
    assert.doesNotMatch(JSON.stringify(row), /hush/);
    const [, stored] = await listConnectors(api.db.query);
    assert.ok(stored !== undefined);
    const opened = openSettings(api.ring, stored);
    assert.deepEqual(opened.kind === 'smpp' && [opened.password, opened.inactivitySeconds], ['hush!', 15]);

    const routeOf = async () => (await readParts(api.db)).map(({ route }) => route);
    await me.send({ mobile: '+85261234567' });
    await me.send();
    const route = (prefix: string, connectors: string) => operate('smsOperator.setRoute', { prefix, connectors });
    await route('+852', 'hk,loopback');
    assert.deepEqual(await routeOf(), ['+852', '']);
    await route('+8526', 'hk');
    await route('+852', '');
    assert.deepEqual(await routeOf(), ['+8526', '']);
    assert.equal((await route('+8526', '')).errorCode, undefined);
    assert.equal((await route('+8526', '')).errorCode, 'smsRouteNotFound');
    assert.deepEqual(await routeOf(), ['', '']);
    const { list: left } = smsData(await operate('smsOperator.listRoutes', {}));
    assert.ok(Array.isArray(left));
    const [{ revision, ...only }, ...others] = left;
    assert.deepEqual([only, others], [{ prefix: '', connectors: ['loopback'] }, []]);
    assert.match(String(revision), /^[1-9]\d*$/);
    assert.equal((await route('+852', 'none')).errorCode, 'connectorNotFound');
    assert.equal((await operate('smsOperator.testConnector', { name: 'none' })).errorCode, 'connectorNotFound');
    assert.equal(smsData(await operate('smsOperator.testConnector', { name: 'loopback' }))['bound'], '1');
    assert.deepEqual([noted.includes('accepted'), noted.filter((what) => what === 'changed').length], [true, 6]);
  });
});
