/** Changes of SMS that are asked for at the same time: each holds, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { smsData, startSmsApi } from '../support/sms/sms-customers.ts';

const ROUNDS = 8;

describeOnBothEngines('changes at the same time', (newDatabase) => {
  test('concurrent changes of a route all succeed, and the last one holds as a whole', async (t) => {
    const { operate } = await startSmsApi(t, newDatabase);
    const names = ['a', 'b', 'c'];
    for (const name of names) await operate('smsOperator.setConnector', { name, kind: 'loopback' });
    for (let round = 0; round < ROUNDS; round += 1) {
      const asked = [names, names.toReversed(), names.slice(1), names.slice(2)];
      const answers = await Promise.all(
        asked.map((connectors) => operate('smsOperator.setRoute', { prefix: `+${round + 1}`, connectors })),
      );
      for (const { body } of answers) assert.equal(body['data'], true, JSON.stringify(body));
      const { list } = smsData(await operate('smsOperator.listRoutes', {}));
      assert.ok(Array.isArray(list));
      const { connectors } = list.find(({ prefix }) => prefix === `+${round + 1}`);
      assert.ok(
        asked.some((one) => one.join() === connectors.join()),
        connectors.join(),
      );
    }
  });

  test('concurrent changes of a connector do not undo each other', async (t) => {
    const { operate } = await startSmsApi(t, newDatabase);
    await operate('smsOperator.setConnector', { name: 'a', host: '127.0.0.1', port: 1, system_id: 'a' });
    for (let n = 1; n <= ROUNDS; n += 1) {
      const changes = [{ window: n }, { rate: n }, { response_seconds: n }, { sender: String(n) }];
      await Promise.all(changes.map((change) => operate('smsOperator.setConnector', { name: 'a', ...change })));
      const { list } = smsData(await operate('smsOperator.listConnectors', {}));
      assert.ok(Array.isArray(list));
      const { window, rate, response_seconds, sender } = list.find(({ name }) => name === 'a');
      assert.deepEqual({ window, rate, response_seconds, sender }, Object.assign({}, ...changes));
    }
  });

  test('one of two changes with the same revision is refused', async (t) => {
    const { operate } = await startSmsApi(t, newDatabase);
    const revisionOf = async (operation: 'smsOperator.listRoutes' | 'smsOperator.listConnectors', key: string) => {
      const { list } = smsData(await operate(operation, {}));
      assert.ok(Array.isArray(list));
      return list.find(({ prefix, name }) => (prefix ?? name) === key)?.revision ?? '0';
    };
    const connector = (change: object) => operate('smsOperator.setConnector', { name: 'a', ...change });
    const route = (change: object) =>
      operate('smsOperator.setRoute', { prefix: '+852', connectors: 'a,loopback', ...change });
    const rows = [
      [connector, { kind: 'smpp', host: '127.0.0.1', port: 1, system_id: 'a' }, 'smsOperator.listConnectors', 'a'],
      [connector, { status_words: 'MK:1=failed' }, 'smsOperator.listConnectors', 'a'],
      [route, {}, 'smsOperator.listRoutes', '+852'],
      [route, { connectors: 'loopback' }, 'smsOperator.listRoutes', '+852'],
    ] as const;
    for (const [set, change, list, key] of rows) {
      const if_revision = await revisionOf(list, key);
      const answers = await Promise.all([set({ ...change, if_revision }), set({ ...change, if_revision })]);
      const codes = answers.map(({ errorCode }) => errorCode ?? '').toSorted();
      assert.deepEqual(codes, ['', 'smsRevisionChanged']);
      const refused = answers.find(({ errorCode }) => errorCode !== undefined);
      assert.equal(refused?.headers.get('x-current-revision'), await revisionOf(list, key));
      assert.match(String(refused?.body['info']), /^(connector "a"|the route of the prefix "\+852") has changed: /);
      assert.equal((await set(change)).errorCode, undefined, 'without it as before');
    }
    const before = await revisionOf('smsOperator.listConnectors', 'a');
    await connector({ password: 'other' });
    assert.equal((await connector({ window: 5, if_revision: before })).errorCode, 'smsRevisionChanged');
    assert.equal((await route({ if_revision: 'x' })).errorCode, 'fieldInvalid');
  });

  test('concurrent changes of an SMS service lose neither its settings nor its webhook', async (t) => {
    const { me } = await startSmsApi(t, newDatabase);
    const change = (name: 'sms.setSettings' | 'sms.setWebhook', request: object) =>
      me.call(name, { app_key: me.appKey, ...request });
    for (let n = 1; n <= ROUNDS; n += 1) {
      const url = `https://shop.example/${n}`;
      const [webhook] = await Promise.all([
        change('sms.setWebhook', { url }),
        change('sms.setSettings', { suffix: String(n) }),
        change('sms.setSettings', { validity_hours: n }),
      ]);
      const { suffix, validity_hours } = smsData(await me.call('sms.getSettings', { app_key: me.appKey }));
      assert.deepEqual({ suffix, validity_hours }, { suffix: String(n), validity_hours: n });
      const stored = smsData(await me.call('sms.getWebhook', { app_key: me.appKey }));
      assert.deepEqual(stored, smsData(webhook));
    }
  });
});
