/** What an account sees of its services and its money, what a text would cost, and its webhooks tried: over HTTP, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WebhookAnswer, WebhookPost } from '#webhooks/webhook-post.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { balanceOf, smsData, startSmsApi } from '../support/sms/sms-customers.ts';

describeOnBothEngines('an account and its SMS', (newDatabase) => {
  test('a text is split and priced as it would be when it is sent', async (t) => {
    const { me, operate } = await startSmsApi(t, newDatabase, { currency: { code: 'CNY', units: 1000 } });
    const app_key = me.appKey;
    await operate('smsOperator.setPrice', { kind: 'ordinary', prefix: '', price: 5 });
    await operate('smsOperator.setPrice', { kind: 'ordinary', prefix: '+8613', price: 7 });
    await operate('smsOperator.setPrice', { kind: 'advertising', prefix: '', price: 3 });
    await me.call('sms.setSettings', { app_key, suffix: '回T', marketing_hours: 'off' });
    await me.call('sms.addOptOuts', { mobile: '13900139000' });
    const split = async (request: Record<string, unknown>) =>
      smsData(await me.call('sms.split', { app_key, ...request }));
    const money = { currency: 'CNY', currency_units: 1000 };
    assert.deepEqual(await split({ content: 'hello+%7B%7D' }), {
      ...{ characters: 8, alphabet: 'gsm7', parts: [{ part: 1, text: 'hello {}', characters: 8 }] },
      ...{ numbers: 1, opted_out: 0, price: 5, ...money },
    });
    const two = await split({ content: encodeURIComponent('你'.repeat(71)), mobile: '13800138000' });
    assert.deepEqual([two['alphabet'], two['characters'], two['price']], ['ucs2', 71, 14]);
    assert.ok(Array.isArray(two['parts']));
    assert.deepEqual(
      two['parts'].map(({ part, characters }) => [part, characters]),
      [
        [1, 67],
        [2, 4],
      ],
    );
    const mobile = '13800138000, 13900139000,13800138000';
    const many = await split({ kind: 'advertising', content: 'a', mobile });
    assert.deepEqual(many['parts'], [{ part: 1, text: 'a回T', characters: 3 }]);
    assert.deepEqual([many['numbers'], many['opted_out'], many['price']], [1, 1, 3], 'as it is charged');
    const before = Number(await balanceOf(me));
    await me.advertise({ content: 'a', mobile });
    assert.equal(before - Number(await balanceOf(me)), 3);
    for (const [request, code] of [
      [{ content: '%' }, 'smsContentInvalid'],
      [{ content: 'a'.repeat(537) }, 'smsContentInvalid'],
      [{ content: 'a', mobile: '1' }, 'mobileInvalid'],
      [{ content: 'a', mobile }, 'mobileInvalid'],
      [{ content: 'a', kind: 'both' }, 'fieldInvalid'],
      [{ content: { a: 1 } }, 'fieldInvalid'],
      [{ content: 'a\0' }, 'smsContentInvalid'],
      [{}, 'fieldMissing'],
    ] as const)
      assert.equal((await me.call('sms.split', { app_key, ...request })).errorCode, code, JSON.stringify(request));
  });

  test('an account lists its own services, and its ledger with the currency', async (t) => {
    const { api, me, join } = await startSmsApi(t, newDatabase);
    const other = await join(7);
    await me.call('sms.setWebhook', { app_key: me.appKey, url: 'https://shop.example/sms' });
    assert.deepEqual(smsData(await me.call('sms.listApps')), {
      total: 1,
      list: [{ app_key: me.appKey, name: 'shop', status: 1, has_webhook: '1', created_at: api.now }],
    });
    const [theirs] = Object(smsData(await other.call('sms.listApps'))['list']);
    assert.deepEqual([theirs.app_key, theirs.has_webhook], [other.appKey, '0']);
    await me.send();
    const { list, ...head } = smsData(await me.call('sms.listLedger', { page_size: 1 }));
    assert.deepEqual(head, { balance: 99, currency: '', currency_units: 1 });
    assert.ok(Array.isArray(list));
    assert.deepEqual(
      list.map(({ kind, amount, mobile }) => [kind, amount, mobile]),
      [['hold', -1, '+8613800138000']],
    );
    const rest = smsData(await me.call('sms.listLedger', { before: list[0].entry_id }))['list'];
    assert.deepEqual(
      Object(rest).map(({ kind, amount }: Record<string, unknown>) => [kind, amount]),
      [['recharge', 100]],
    );
  });

  test('a webhook is tried at once, signed like any delivery, and its answer is shown and kept', async (t) => {
    const posted: WebhookPost[] = [];
    const answers: WebhookAnswer[] = [
      { kind: 'answered', status: 500, body: 'database is locked' },
      { kind: 'failed', reason: 'timeout' },
    ];
    const post = async (one: WebhookPost) => {
      posted.push(one);
      return answers[posted.length - 1] ?? { kind: 'failed', reason: 'none' };
    };
    const sms = { onAccepted: () => undefined, onConnectorsChanged: async () => undefined, post };
    const { api, me } = await startSmsApi(t, newDatabase, { sms });
    const app_key = me.appKey;
    assert.equal((await me.call('sms.testWebhook', { app_key })).errorCode, 'smsWebhookMissing');
    await me.call('sms.setWebhook', { app_key, url: 'https://shop.example/sms' });
    const failed = { status: 500, reason: '', took_ms: 0, answer: 'database is locked' };
    assert.deepEqual(smsData(await me.call('sms.testWebhook', { app_key })), failed);
    assert.equal(posted[0]?.url, 'https://shop.example/sms');
    assert.match(posted[0]?.headers['x-causeway-signature'] ?? '', /^t=\d+,v1=[0-9a-f]{64}$/);
    assert.deepEqual(JSON.parse(posted[0]?.body ?? ''), { event: 'test', time: api.now });
    const soon = await me.call('sms.testWebhook', { app_key });
    assert.deepEqual([soon.errorCode, posted.length], ['tooManyRequests', 1]);
    api.passedMs += 5_000;
    const silent = { status: 0, reason: 'timeout', took_ms: 0, answer: '' };
    assert.deepEqual(smsData(await me.call('sms.testWebhook', { app_key })), silent);
    const kept = { delivery_id: '0', event: 'test', sendid: '', at: api.now, tries: 1, outcome: 'dropped' };
    assert.deepEqual(smsData(await me.call('sms.listDeliveries', { app_key })), {
      waiting: 0,
      list: [
        { ...kept, ...silent },
        { ...kept, ...failed },
      ],
    });
  });
});
