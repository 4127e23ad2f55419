/** Operations of events, over HTTP on both engines: whose events they are, filters, pages, and webhooks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRefusedAddress } from '#roles/process/webhook-sender.ts';
import type { TestApi } from '../support/api/api.ts';
import { dataOf, startWithCustomers } from '../support/api/customers.ts';
import { addSampleEvent } from '../support/api/sample-event.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';

const kindsOf = (answer: Awaited<ReturnType<TestApi['call']>>) => {
  // `as`: compared below.
  const list = dataOf(answer)['list'] as readonly { readonly kind: string; readonly text: string }[];
  return list.map(({ kind }) => kind);
};

describeOnBothEngines('events over the interface', (newDatabase) => {
  test("customers see their own events, operators all, filtered and in pages, in the request's language", async (t) => {
    const { api, operate } = await startWithCustomers(t, newDatabase);
    const [one, other] = [await api.join('customer', ['cdn']), await api.join('customer', ['cdn'])];
    await addSampleEvent(api, { accountId: one.accountId });
    await addSampleEvent(api, { accountId: one.accountId, kind: 'origin.up' });
    await addSampleEvent(api, { accountId: other.accountId });
    await addSampleEvent(api, {
      kind: 'edge.away',
      target: { kind: 'edge', id: 'fra1', name: 'fra1' },
      data: { detail: 'ready → away' },
    });
    const mine = (request = {}) => api.call('event.list', one.accessToken, request);
    assert.deepEqual(kindsOf(await mine()), ['origin.up', 'origin.down']);
    assert.deepEqual(kindsOf(await mine({ kinds: ['origin.down', 'edge.away'] })), ['origin.down']);
    assert.deepEqual(kindsOf(await mine({ severity: 'info' })), ['origin.up']);
    assert.deepEqual(kindsOf(await mine({ page: 2, page_size: 1 })), ['origin.down']);
    assert.deepEqual(kindsOf(await operate('eventOperator.list', {})), [
      'edge.away',
      'origin.down',
      'origin.up',
      'origin.down',
    ]);
    assert.deepEqual(kindsOf(await operate('eventOperator.list', { account_id: other.accountId })), ['origin.down']);
    const [first] = dataOf(await mine({ kinds: ['origin.down'] }))['list'] as readonly unknown[]; // `as`: compared next
    const { event_id, ...shown } = first as Readonly<Record<string, unknown>>; // as above
    assert.match(String(event_id), /^\d+$/);
    assert.deepEqual(shown, {
      time: Math.floor(api.now / 1000),
      kind: 'origin.down',
      severity: 'warning',
      account_id: String(one.accountId),
      target: { kind: 'domain', id: '3', name: 'www.example.com' },
      actor: 'control',
      data: { origin: 'o.example:80', state: 'down', edges: 1, edge: 'fra1' },
      text: 'the origin o.example:80 of www.example.com is down (edges: 1, such as fra1)',
    });
    const request = { access_token: one.accessToken, kinds: ['origin.down'] };
    const chinese = await api.post('/event/listEvents', request, { 'accept-language': 'zh-CN' });
    assert.match(JSON.stringify(chinese.body), /域名 www\.example\.com 的源站 o\.example:80 无法访问/);
    assert.deepEqual(
      await Promise.all([
        mine({ kinds: ['nothing'] }).then(({ errorCode }) => errorCode),
        mine({ severity: 'high' }).then(({ errorCode }) => errorCode),
        api.call('eventOperator.list', one.accessToken, {}).then(({ errorCode }) => errorCode),
      ]),
      ['fieldInvalid', 'fieldInvalid', 'pathUnknown'],
    );
  });

  test('a webhook keeps its secret with another address, gets a new one on request, and is gone with an empty address', async (t) => {
    const refusedAddress = createRefusedAddress({ allow: [], refuse: [] });
    const sms = { onAccepted: () => undefined, onConnectorsChanged: async () => undefined, refusedAddress };
    const { api, operate } = await startWithCustomers(t, newDatabase, { sms });
    const [one, other] = [await api.join('customer', ['cdn']), await api.join('customer', ['cdn'])];
    const set = async (request: Readonly<Record<string, unknown>>) =>
      dataOf(await api.call('event.setWebhook', one.accessToken, request));
    const none = { url: '', secret: '' };
    assert.deepEqual(dataOf(await api.call('event.getWebhook', one.accessToken, {})), none);
    const { secret } = await set({ url: 'https://one.example/hook' });
    assert.match(String(secret), /^[0-9a-f]{64}$/);
    assert.deepEqual(await set({ url: 'https://two.example/hook' }), { url: 'https://two.example/hook', secret });
    assert.notEqual((await set({ url: 'https://two.example/hook', rotate: '1' }))['secret'], secret);
    assert.deepEqual(dataOf(await api.call('event.getWebhook', other.accessToken, {})), none);
    const stored = await api.db.query.selectFrom('event_webhook').select('secret').execute();
    assert.ok(
      stored.every((row) => row.secret.startsWith('v1.')),
      'sealed',
    );

    const inside = await api.call('event.setWebhook', one.accessToken, { url: 'http://10.1.2.3/hook' });
    assert.equal(inside.errorCode, 'entryInvalid');
    assert.equal((await api.call('event.setWebhook', one.accessToken, { url: 'ftp://a' })).errorCode, 'fieldInvalid');
    const { url } = dataOf(await operate('eventOperator.setWebhook', { url: 'http://10.1.2.3/hook' }));
    assert.equal(url, 'http://10.1.2.3/hook');
    assert.equal(dataOf(await operate('eventOperator.getWebhook', {}))['url'], url);
    await addSampleEvent(api, { accountId: one.accountId });
    const waiting = async () => (await api.db.query.selectFrom('event_delivery').select('receiver').execute()).length;
    assert.equal(await waiting(), 2);
    assert.deepEqual(await set({ url: '' }), none);
    assert.equal(await waiting(), 1, "what waited for it is gone, and the operator's is not");
  });
});
