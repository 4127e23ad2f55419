/** What an operator can get wrong with connectors and their secrets, over HTTP and, for the test of a connector, up to a real carrier. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { sql } from 'kysely';
import { listConnectors, openSettings } from '#db/tables/sms/connectors.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';
import { needs } from '../support/runner/needs.ts';
import { connectTestCarrier, partToSubmit } from '../support/sms/carrier.ts';
import { smsData, startSmsApi } from '../support/sms/sms-customers.ts';
import { startSmsc } from '../support/sms/smsc.ts';

describeOnBothEngines('secrets that were left out of an export', (newDatabase) => {
  test('a connector without its password can be turned off, says what is missing, and gets a new one', async (t) => {
    const { api, operate } = await startSmsApi(t, newDatabase);
    const set = (request: object) => operate('smsOperator.setConnector', { name: 'hk', ...request });
    await set({ host: '127.0.0.1', port: 1, system_id: 'shop', password: 'hush!' });
    await sql`update sms_connector set secret = '' where name = 'hk'`.execute(api.db.query);
    assert.deepEqual(smsData(await operate('smsOperator.testConnector', { name: 'hk' })), {
      bound: '0',
      detail: 'its password is not there: give it anew',
    });
    assert.equal((await set({ enabled: '0' })).body['data'], true);
    assert.equal((await set({ password: 'again' })).body['data'], true);
    assert.equal((await set({ window: 5 })).body['data'], true);
    const [, stored] = await listConnectors(api.db.query);
    assert.ok(stored !== undefined && stored.settings.kind === 'smpp');
    const opened = openSettings(api.ring, stored);
    assert.deepEqual(opened.kind === 'smpp' && [opened.password, opened.window, stored.enabled], ['again', 5, false]);
    await set({ kind: 'loopback' });
    await set({ kind: 'smpp', host: '127.0.0.1', port: 1, system_id: 'shop' });
    const [, anew] = await listConnectors(api.db.query);
    assert.ok(anew !== undefined);
    const reopened = openSettings(api.ring, anew);
    assert.equal(reopened.kind === 'smpp' && reopened.password, '', 'the password went with what it was for');
  });

  test('a webhook without its secret shows its address, and gets a new secret', async (t) => {
    const { api, me } = await startSmsApi(t, newDatabase);
    const call = async (name: 'sms.getWebhook' | 'sms.setWebhook', request = {}) =>
      smsData(await me.call(name, { app_key: me.appKey, ...request }));
    const url = 'https://shop.example/sms';
    const { secret } = await call('sms.setWebhook', { url });
    const settings = await api.db.query.selectFrom('sms_app').select('settings').executeTakeFirstOrThrow();
    const { webhookSecret: _, ...others } = JSON.parse(settings.settings);
    const left = JSON.stringify(others);
    await api.db.query.updateTable('sms_app').set({ settings: left }).execute();
    assert.deepEqual(await call('sms.getWebhook'), { url, secret: '' });
    const anew = await call('sms.setWebhook', { url });
    assert.match(String(anew['secret']), /^[\da-f]{64}$/);
    assert.notEqual(anew['secret'], secret);
    await api.db.query.updateTable('sms_app').set({ settings: left }).execute();
    assert.deepEqual(await call('sms.setWebhook', { url: '' }), { url: '', secret: '' });
  });
});

describeOnBothEngines('a connector that is not needed any more', (newDatabase) => {
  test('a connector is removed when no route and no part needs it; its number is never used again', async (t) => {
    const { api, me, operate } = await startSmsApi(t, newDatabase);
    const set = (name: string) =>
      operate('smsOperator.setConnector', { name, host: '127.0.0.1', port: 1, system_id: 'shop', password: 'hush!' });
    const route = (prefix: string, connectors: string) => operate('smsOperator.setRoute', { prefix, connectors });
    const remove = async (name: string) => {
      const { body, errorCode } = await operate('smsOperator.deleteConnector', { name });
      return errorCode === undefined ? body['data'] : `${errorCode}: ${body['info']}`;
    };
    const named = async () => (await listConnectors(api.db.query)).map(({ name }) => name);
    assert.match(String(await remove('hk')), /^connectorNotFound: /);
    await set('hk');
    await route('', 'loopback,hk');
    await route('+852', 'hk');
    assert.equal(
      await remove('hk'),
      'connectorInUse: connector "hk" cannot be deleted: routes use it (of all other numbers, of +852): change those first',
    );
    await route('+852', 'loopback');
    await route('', 'loopback');
    const [, stored] = await listConnectors(api.db.query);
    await me.send();
    for (const state of ['queued', 'submitting', 'submitted', 'uncertain']) {
      await api.db.query
        .updateTable('sms_part')
        .set({ state, connector_id: stored?.id ?? 0, submitted_at: api.now, lease_until: api.now, lease_owner: 'me' })
        .execute();
      assert.match(
        String(await remove('hk')),
        /^connectorInUse: .*parts that it has taken have not come to an end/,
        state,
      );
    }
    assert.deepEqual(await named(), ['loopback', 'hk']);
    await api.db.query.updateTable('sms_part').set({ state: 'delivered' }).execute();
    assert.equal(await remove('hk'), true);
    assert.deepEqual(await named(), ['loopback']);
    await set('hk');
    const [, another] = await listConnectors(api.db.query);
    assert.ok(
      stored !== undefined && another !== undefined && another.id > stored.id,
      'no receipt is mistaken for an old one',
    );
    assert.equal(await remove('hk'), true);
  });
});

test('the test of a connector says why a carrier accepts no session, and asks once', needs('netSmpp'), async (t) => {
  const smsc = await startSmsc(t, { password: 'secret' });
  const { operate } = await startSmsApi(t, newSqlite);
  const probe = async (name: string, request: object) => {
    const common = { host: '127.0.0.1', port: smsc.port, system_id: 'shop', password: 'secret' };
    await operate('smsOperator.setConnector', { name, enabled: '0', ...common, ...request });
    const { bound, detail } = smsData(await operate('smsOperator.testConnector', { name }));
    return [bound, detail];
  };
  assert.deepEqual(await probe('good', {}), ['1', '']);
  assert.deepEqual(await probe('pair', { bind: 'pair' }), ['1', '']);
  const binds = smsc.count('bind');
  assert.deepEqual(await probe('password', { password: 'wrong' }), [
    '0',
    'the carrier refused the session: 0x0000000e, wrong password',
  ]);
  assert.equal(smsc.count('bind'), binds + 1, 'a carrier locks who tries on');
  smsc.order({ do: 'set', options: { refused: 'receiver' } });
  assert.deepEqual(await probe('half', { bind: 'pair' }), [
    '0',
    'the carrier refused the session: 0x0000000d, bind failed',
  ]);
  const [isBound, refused] = await probe('nobody', { port: 1 });
  assert.deepEqual([isBound, /ECONNREFUSED/.test(String(refused))], ['0', true]);
});

test("the options of a carrier's sessions and addresses are set, shown and sent", needs('netSmpp'), async (t) => {
  const smsc = await startSmsc(t);
  const { api, operate } = await startSmsApi(t, newSqlite);
  const set = (request: object) => operate('smsOperator.setConnector', { name: 'carrier', ...request });
  const asked = [
    'interface_version',
    'sender_type',
    'destination_type',
    'bind_seconds',
    'registered_delivery',
  ] as const;
  const shown = async () => {
    const { list } = smsData(await operate('smsOperator.listConnectors', {}));
    const [, carrier] = Array.isArray(list) ? list : [];
    return asked.map((name) => carrier[name]);
  };
  await set({ enabled: 0, host: '127.0.0.1', port: smsc.port, system_id: 'shop', sender: 'Shop' });
  assert.deepEqual(await shown(), ['34', '', '1,1', 10, '1']);
  await set({
    interface_version: 50,
    sender_type: '0,1',
    destination_type: '2,8',
    bind_seconds: 5,
    registered_delivery: 0,
  });
  await set({ window: 3 });
  assert.deepEqual(await shown(), ['50', '0,1', '2,8', 5, '0'], 'what is not given stays');
  for (const [field, value] of [
    ['interface_version', '35'],
    ['sender_type', '5'],
    ['sender_type', '5,256'],
    ['destination_type', '1,1,1'],
    ['bind_seconds', 0],
    ['registered_delivery', 3],
  ] as const) {
    const answer = await set({ [field]: value });
    assert.deepEqual([answer.errorCode, String(answer.body['info']).includes(field)], ['fieldInvalid', true], field);
  }
  const [, stored] = await listConnectors(api.db.query);
  assert.ok(stored !== undefined);
  const { carrier, bound } = connectTestCarrier(t, openSettings(api.ring, stored));
  await bound();
  assert.equal((await carrier.submit(partToSubmit({ sender: 'Shop' }))).kind, 'accepted');
  assert.equal(smsc.events.find(({ event }) => event === 'bind')?.['interface_version'], 0x50);
  const [submit] = smsc.submits();
  assert.deepEqual([submit?.from, submit?.types, submit?.registered], ['Shop', [0, 1, 2, 8], 0]);
  await set({ sender_type: '', destination_type: '' });
  assert.deepEqual(await shown(), ['50', '', '1,1', 5, '0'], 'empty is by its form again');
});

test('a connector over TLS verifies the carrier', needs('openssl'), async (t) => {
  const authority = createAuthority(t);
  const { operate } = await startSmsApi(t, newSqlite);
  const port = await startTlsCarrier(t, authority.issue(['smsc.example']));
  const probe = async (request: object) => {
    const common = { host: '127.0.0.1', port, system_id: 'shop', password: 'secret', tls: 1 };
    await operate('smsOperator.setConnector', { name: 'tls', enabled: '0', ...common, ...request });
    const { bound, detail } = smsData(await operate('smsOperator.testConnector', { name: 'tls' }));
    return `${bound} ${detail}`;
  };
  assert.match(await probe({}), /^0 .*unable to (verify|get)[^;]*$/, 'without advice for those who run Node');
  assert.match(await probe({ tls_ca: authority.ca }), /^0 .*127\.0\.0\.1 is not in the cert/);
  assert.match(await probe({ tls_server_name: 'smsc.example' }), /^1 $/);
  const answer = await operate('smsOperator.setConnector', { name: 'tls', tls_ca: 'no certificate' });
  assert.deepEqual([answer.errorCode, /tls_ca/.test(String(answer.body['info']))], ['fieldInvalid', true]);
});

/** Takes whatever bind comes, and unbinds. */
async function startTlsCarrier(t: TestContext, certificate: { readonly cert: string; readonly key: string }) {
  const server = createTlsServer(certificate, (socket) => {
    socket
      .on('error', () => {})
      .on('data', (octets: Buffer) => {
        const isBind = octets.readUInt32BE(4) === 9;
        const answer = Buffer.alloc(isBind ? 17 : 16);
        answer.writeUInt32BE(answer.length, 0);
        answer.writeUInt32BE(octets.readUInt32BE(4) + 0x80000000, 4);
        answer.writeUInt32BE(octets.readUInt32BE(12), 12);
        socket.write(answer);
      });
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}
