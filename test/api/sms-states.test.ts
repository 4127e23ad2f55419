/** Connectors at work and the tester of numbers: over HTTP, on both engines. What connectors report is tested in test/sms. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConnectorOfControl } from '#api/sms/sms-services.ts';
import { storeReceipts } from '#db/tables/sms/receipts.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { smsData, startSmsApi } from '../support/sms/sms-customers.ts';

const HOUR_MS = 3_600_000;

describeOnBothEngines('states of connectors', (newDatabase) => {
  test('each connector has its sessions, its queue and the errors of the last hour', async (t) => {
    const reports: ConnectorOfControl[] = [];
    const hooks = { onAccepted: () => undefined, onConnectorsChanged: async () => undefined };
    const sms = { ...hooks, connectors: () => reports };
    const { api, me, operate } = await startSmsApi(t, newDatabase, { sms });
    const carrier = { name: 'carrier', host: 'smsc.example', port: 2775, system_id: 'shop', window: 20, rate: 100 };
    const words = { status_words: 'MK:0012=failed||空号|no such number' };
    await operate('smsOperator.setConnector', { ...carrier, password: 'secret', ...words });
    await operate('smsOperator.setRoute', { prefix: '+86138', connectors: 'carrier,loopback' });
    await me.send();
    await me.send({ mobile: '13900139000' });
    const [part] = await api.db.query.selectFrom('sms_part').select('id').orderBy('id').execute();
    const attempt = { part_id: part?.id ?? 0, connector_id: 2, sent_at: 1, outcome: 'refused' };
    await api.db.query
      .insertInto('sms_attempt')
      .values([
        { ...attempt, ended_at: api.now - 2 * HOUR_MS, error: '0x0000000b' },
        { ...attempt, ended_at: api.now - 1_000, error: '0x00000058' },
        { ...attempt, ended_at: api.now - 1_000, error: '0x00000058' },
      ])
      .execute();
    const receipt = { connectorId: 2, carrierKeys: ['k'], destination: '+1', raw: '', word: 'MK:0012' };
    const receipts = [
      { ...receipt, state: 'failed' as const, error: 'MK:0012' },
      { ...receipt, state: 'delivered' as const, error: '' },
    ];
    await api.db.transaction((trx) => storeReceipts(trx, receipts, api.now, 'submit'));
    const session = { connectorId: 2, control: '0123456789abcdef', rate: 40.04, inFlight: 3 };
    reports.push({ ...session, state: 'bound', sendsSince: api.now - 5_000, receivesSince: api.now - 4_000 });
    reports.push({ ...session, control: 'fedcba98', state: 'connecting', rate: 0, inFlight: 0 });
    const states = async () => smsData(await operate('smsOperator.listStates', {}));
    const { list, errors_since } = await states();
    assert.equal(errors_since, api.now - HOUR_MS);
    assert.deepEqual(list, [
      {
        ...{ name: 'loopback', kind: 'loopback', state: 'down', rate_limit: 0, window: 0 },
        ...{ rate: 0, in_flight: 0, queued: 2, sessions: [], errors: [], misconfigured: '', misconfigured_text: '' },
      },
      {
        ...{ name: 'carrier', kind: 'smpp', state: 'up', rate_limit: 100, window: 20 },
        ...{ rate: 40, in_flight: 3, queued: 1, misconfigured: '', misconfigured_text: '' },
        sessions: [
          {
            ...{ control: '01234567', state: 'bound', rate: 40.04, in_flight: 3 },
            ...{ sends_since: api.now - 5_000, receives_since: api.now - 4_000 },
          },
          {
            ...{ control: 'fedcba98', state: 'connecting', sends_since: 0, receives_since: 0 },
            ...{ rate: 0, in_flight: 0 },
          },
        ],
        errors: [
          { code: '0x00000058', from: 'submit', count: 2, text: "the carrier's rate limit was exceeded" },
          { code: 'MK:0012', from: 'receipt', count: 1, text: 'no such number' },
        ],
      },
    ]);
    reports.splice(0, 2, { ...session, state: 'bound', receivesSince: api.now });
    const stateOf = async () => Object((await states())['list'])[1].state;
    assert.equal(await stateOf(), 'partial');
    reports.splice(0, 1, { ...session, state: 'paused', misconfigured: '0x0000000a' });
    const { misconfigured, misconfigured_text: why } = Object((await states())['list'])[1];
    assert.deepEqual([misconfigured, why], ['0x0000000a', 'invalid source address']);
    await operate('smsOperator.setConnector', { name: 'carrier', enabled: 0 });
    assert.equal(await stateOf(), 'disabled');
  });

  test('a number is tried by the longest prefix of prices and of routes, each by itself', async (t) => {
    const { operate } = await startSmsApi(t, newDatabase, { currency: { code: 'HKD', units: 100 } });
    await operate('smsOperator.setPrice', { kind: 'ordinary', prefix: '+852', price: 8 });
    await operate('smsOperator.setPrice', { kind: 'ordinary', prefix: '+8526', price: 9 });
    await operate('smsOperator.setRoute', { prefix: '+85', connectors: 'loopback' });
    const tried = async (request: Record<string, unknown>) => smsData(await operate('smsOperator.testNumber', request));
    const money = { currency: 'HKD', currency_units: 100 };
    assert.deepEqual(await tried({ mobile: '0085261234567' }), {
      ...{ mobile: '+85261234567', kind: 'ordinary', price: 9, price_prefix: '+8526', ...money },
      ...{ route_prefix: '+85', connectors: ['loopback'] },
    });
    const other = await tried({ mobile: '13800138000', kind: 'advertising' });
    assert.deepEqual([other['price'], other['price_prefix'], other['route_prefix']], [1, '', '']);
    await operate('smsOperator.setRoute', { prefix: '', connectors: '' });
    assert.deepEqual((await tried({ mobile: '13800138000' }))['connectors'], [], 'it waits for a route');
    assert.equal((await operate('smsOperator.testNumber', { mobile: '1' })).errorCode, 'mobileInvalid');
  });
});
