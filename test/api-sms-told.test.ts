/** What carriers and phones told, as customers and operators see it, and the words of carriers: over HTTP, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeReplies } from '#db/sms-replies.ts';
import { storeUnread } from '#db/sms-unread.ts';
import { describeOnBothEngines } from './support/databases.ts';
import { smsData, startSmsApi } from './support/sms-customers.ts';

const HOUR_MS = 3_600_000;

describeOnBothEngines('what carriers tell', (newDatabase) => {
  test('a reply that is no text has its octets, and says in which alphabet they are', async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase);
    await me.send();
    const reply = { connectorId: 1, origin: '+8613800138000', text: 'hex:01', coding: 4, isOptOut: false };
    await api.db.transaction((trx) => storeReplies(trx, [reply], api.now));
    const { list } = smsData(await me.call('sms.listReplies', {}));
    assert.ok(Array.isArray(list));
    assert.deepEqual([list[0].text, list[0].coding], ['hex:01', 4]);
  });

  test('operators see what nobody could read, of at most 1,000 in a day', async (t) => {
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

  test('a connector has words of its own, which replace those it had', async (t) => {
    const { operate } = await startSmsApi(t, newDatabase);
    const carrier = { name: 'hk', host: 'smsc.example', port: 2775, system_id: 'shop' };
    const set = (request: Record<string, unknown>) => operate('smsOperator.setConnector', { ...carrier, ...request });
    assert.equal((await set({})).errorCode, undefined);
    for (const [words, kept] of [
      ['MK:0012=failed, SENT=on_the_way', ['MK:0012=failed', 'SENT=on_the_way']],
      [['a/*=unknown'], ['a/*=unknown']],
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
    ]) {
      const refused = await set({ status_words: [`OK=delivered`, word] });
      assert.equal(refused.errorCode, 'fieldInvalid', word);
      assert.match(String(refused.body['info']), /status_words.*such as MK:0012=failed/, word);
    }
  });
});
