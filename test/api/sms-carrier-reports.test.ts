/** What carriers and phones told, as customers and operators see it, and the words of carriers: over HTTP, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import type { Locale } from '#contract/schema/locale.ts';
import { listConnectors } from '#db/tables/sms/connectors.ts';
import { queueDeliveries } from '#db/tables/sms/deliveries.ts';
import { storeReplies } from '#db/tables/sms/replies.ts';
import { storeUnread } from '#db/tables/sms/unread.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { smsData, startSmsApi } from '../support/sms/sms-customers.ts';

const HOUR_MS = 3_600_000;

describeOnBothEngines('reports of carriers', (newDatabase) => {
  test('a reply that is not text is shown as octets, with its alphabet', async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase);
    await me.send();
    const reply = { connectorId: 1, origin: '+8613800138000', text: 'hex:01', coding: 4, isOptOut: false };
    await api.db.transaction((trx) => storeReplies(trx, [reply], api.now));
    const { list } = smsData(await me.call('sms.listReplies', {}));
    assert.ok(Array.isArray(list));
    assert.deepEqual([list[0].text, list[0].coding], ['hex:01', 4]);
  });

  test('operators see deliveries that could not be read, at most 1,000 a day', async (t) => {
    const { api, operate } = await startSmsApi(t, newDatabase);
    const store = (count: number, now: number) => {
      const unread = { connectorId: 1, reason: 'cut', command: 'deliver_sm', octets: '00ff' };
      return api.db.transaction((trx) => storeUnread(trx, Array(count).fill(unread), now));
    };
    assert.deepEqual([await store(0, api.now), await store(998, api.now), await store(5, api.now)], [0, 998, 2]);
    assert.deepEqual([await store(1, api.now + 23 * HOUR_MS), await store(1, api.now + 24 * HOUR_MS)], [0, 1]);
    const page = async (request: object) => {
      const { list, next } = smsData(await operate('smsOperator.listUnread', { page_size: 2, ...request }));
      assert.ok(Array.isArray(list));
      return { list, next };
    };
    const newest = await page({});
    const [first, second] = newest.list;
    assert.deepEqual([newest.list.length, second.unread_id], [2, newest.next]);
    const { unread_id: _, create_time, ...rest } = first;
    assert.deepEqual(rest, { connector: 'loopback', reason: 'cut', command: 'deliver_sm', octets: '00ff' });
    assert.equal(create_time, '2026-02-01 12:00:00');
    assert.ok(Number((await page({ before: newest.next })).list[0].unread_id) < Number(newest.next));
  });

  test('the reason of a failed part is shown in the language of the call, and sent to webhooks', async (t) => {
    const { api, me, operate } = await startSmsApi(t, newDatabase);
    const status_words = ['MK:0001=failed|absent|暂时无法接通|not reachable', 'UNDELIV*=failed|other|未送达'];
    const carrier = { name: 'hk', host: 'smsc.example', port: 2775, system_id: 'shop', status_words };
    assert.equal((await operate('smsOperator.setConnector', carrier)).errorCode, undefined);
    const connector = (await listConnectors(api.db.query)).find(({ name }) => name === 'hk');
    const { sendid } = (await me.advertise({ mobile: '13800138000,13900139000,13700137000' })).body;
    assert.equal(
      (await me.call('sms.setWebhook', { app_key: me.appKey, url: 'https://shop.example/sms' })).errorCode,
      undefined,
    );
    const ids = (await api.db.query.selectFrom('sms_part').select('id').orderBy('id').execute()).map(({ id }) => id);
    for (const [n, last_word] of ['mk:0001', 'UNDELIV/027', 'MK:0002'].entries())
      await api.db.query
        .updateTable('sms_part')
        .set({ state: 'failed', last_word, connector_id: connector?.id ?? 0, done_at: api.now })
        .where('id', '=', ids[n] ?? 0)
        .execute();
    const meanings = async (locale: Locale) => {
      const client = createClient({ baseUrl: api.url, accessToken: me.accessToken, locale });
      const { numbers } = await client.call('sms.getStatus', { sendid: String(sendid) });
      return numbers.flatMap(({ parts }) => parts.map(({ group, text }) => [group, text]));
    };
    assert.deepEqual(await meanings('en'), [
      ['absent', 'not reachable'],
      ['other', '未送达'],
      ['', ''],
    ]);
    assert.deepEqual((await meanings('zh-CN'))[0], ['absent', '暂时无法接通']);
    await api.db.transaction((trx) => queueDeliveries(trx, { endedParts: ids, replies: [] }, api.now));
    const told = await api.db.query.selectFrom('sms_delivery').select('body').orderBy('id').execute();
    assert.deepEqual(
      told.map(({ body }) => JSON.parse(body).group),
      ['absent', 'other', undefined],
    );
  });

  test('a connector has status words of its own, which replace those it had', async (t) => {
    const { operate } = await startSmsApi(t, newDatabase);
    const carrier = { name: 'hk', host: 'smsc.example', port: 2775, system_id: 'shop' };
    const set = (request: Record<string, unknown>) => operate('smsOperator.setConnector', { ...carrier, ...request });
    assert.equal((await set({})).errorCode, undefined);
    for (const [words, kept] of [
      ['MK:0012=failed, SENT=on_the_way', ['MK:0012=failed', 'SENT=on_the_way']],
      [['a/*=unknown'], ['a/*=unknown']],
      [
        [
          'MK:1=failed|absent|不在|away',
          'MK:2=failed||说明=a',
          'MK:3=failed|||x',
          'MK:4=failed|optout',
          'MK:5=failed|||',
        ],
        ['MK:1=failed|absent|不在|away', 'MK:2=failed||说明=a', 'MK:3=failed|||x', 'MK:4=failed|optout', 'MK:5=failed'],
      ],
      ['', []],
    ] as const) {
      assert.equal((await set({ status_words: words })).errorCode, undefined);
      const after = smsData(await operate('smsOperator.listConnectors', {}))['list'];
      assert.deepEqual(Array.isArray(after) && after[1].status_words, kept);
    }
    for (const word of [
      'MK:0012',
      'MK:0012=lost',
      '=failed',
      'A B=failed',
      '短=failed',
      'A*B=failed',
      `${'x'.repeat(41)}=failed`,
      'MK:1=failed|nowhere',
      'MK:1=failed|off|a|b|c',
      `MK:1=failed|off|${'x'.repeat(61)}`,
    ]) {
      const refused = await set({ status_words: [`OK=delivered`, word] });
      assert.equal(refused.errorCode, 'fieldInvalid', word);
      assert.match(String(refused.body['info']), /status_words.*such as MK:0012=failed/, word);
    }
  });
});
