/** Connectors of CMPP, SMGP and SGIP, as an operator sets them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listConnectors, openSettings } from '#db/tables/sms/connectors.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { smsData, startSmsApi } from '../support/sms/sms-customers.ts';

const CARRIER = { host: '10.1.2.3', port: 7890, account: '900001', sender: '106900001234', password: 'hush!' };
const SGIP = { corp_id: '12345', node: 3010012345, listen: '[::]:8801', allow: '10.1.0.0/16,10.2.3.4' };

describeOnBothEngines('connectors of gateways', (newDatabase) => {
  test('a connector of each kind is set, changed and listed', async (t) => {
    const { api, operate } = await startSmsApi(t, newDatabase);
    const set = (request: object) => operate('smsOperator.setConnector', { name: 'cn', ...request });
    const shown = async () => Object((smsData(await operate('smsOperator.listConnectors', {}))['list'] as object[])[1]);
    assert.equal((await set({ kind: 'cmpp2', ...CARRIER })).body['data'], true);
    const { kind, account, fee_type, fee_user_type, window, receipts, corp_id, results } = await shown();
    assert.deepEqual(
      [kind, account, fee_type, fee_user_type, window, receipts],
      ['cmpp2', '900001', '01', 2, 16, 'all'],
    );
    assert.deepEqual([corp_id, results], ['', []]);
    const changed = {
      service_id: 'SMS',
      corp_id: '900002',
      results: '23=throttled,101=permanent',
      udhi_value: 64,
      connections: 4,
    };
    assert.equal((await set({ kind: 'cmpp3', ...changed })).body['data'], true);
    const after = await shown();
    assert.deepEqual([after.kind, after.service_id, after.corp_id, after.udhi_value], ['cmpp3', 'SMS', '900002', '64']);
    assert.deepEqual([after.results, after.connections], [['23=throttled', '101=permanent'], 4]);
    const [, stored] = await listConnectors(api.db.query);
    assert.ok(stored !== undefined);
    const opened = openSettings(api.ring, stored);
    assert.ok(opened.kind === 'cmpp3');
    assert.deepEqual([opened.password, opened.inactivitySeconds, opened.udhiValue], ['hush!', 90, 64]);
    assert.equal((await set({ corp_id: '' })).body['data'], true);
    assert.equal((await shown()).corp_id, '');
    const smgp = await operate('smsOperator.setConnector', {
      name: 'ct',
      kind: 'smgp',
      ...CARRIER,
      account: '12345678',
    });
    assert.equal(smgp.body['data'], true);
  });

  test('a connector of SGIP has a listener', async (t) => {
    const { api, operate } = await startSmsApi(t, newDatabase);
    const set = (request: object) => operate('smsOperator.setConnector', { name: 'cu', ...request });
    assert.equal((await set({ kind: 'sgip', ...CARRIER, ...SGIP })).body['data'], true);
    assert.equal((await set({ receipts: 'failures', gateway_account: 'smg' })).body['data'], true);
    const [, stored] = await listConnectors(api.db.query);
    assert.ok(stored?.settings.kind === 'sgip');
    const { listen, allow, node, corpId, gatewayAccount, receipts, numberForm } = stored.settings;
    assert.deepEqual([listen, allow], [{ host: '::', port: 8801 }, ['10.1.0.0/16', '10.2.3.4']]);
    assert.deepEqual(
      [node, corpId, gatewayAccount, receipts, numberForm],
      [3010012345, '12345', 'smg', 'failures', '86'],
    );
    const list = smsData(await operate('smsOperator.listConnectors', {}))['list'] as object[];
    const shown = Object(list[1]);
    assert.deepEqual([shown.listen, shown.allow, shown.node], ['[::]:8801', ['10.1.0.0/16', '10.2.3.4'], 3010012345]);
    // An empty name is the account again.
    await set({ gateway_account: '' });
    const [, cleared] = await listConnectors(api.db.query);
    assert.ok(cleared?.settings.kind === 'sgip' && !('gatewayAccount' in cleared.settings));
  });

  test('what a kind does not have, cannot carry or lacks is refused by its name', async (t) => {
    const { operate } = await startSmsApi(t, newDatabase);
    const refusal = async (request: object) => {
      const { errorCode, body } = await operate('smsOperator.setConnector', { name: 'cn', ...request });
      return `${errorCode}: ${body['info']}`;
    };
    const cases: readonly [object, RegExp][] = [
      [{ kind: 'cmpp3', ...CARRIER, system_id: 'a' }, /^fieldInvalid: .*system_id.*only for connectors of kind smpp/],
      [{ kind: 'smgp', ...CARRIER, pk: 'one' }, /^fieldInvalid: .*pk.*only for connectors of kind cmpp2, cmpp3/],
      [{ host: 'h', port: 1, system_id: 'a', account: 'b' }, /^fieldInvalid: .*account.*kind cmpp2, cmpp3, smgp/],
      [{ kind: 'cmpp2', ...CARRIER, window: 8 }, /^fieldInvalid: .*window.*from 9 to 1000/],
      [{ kind: 'cmpp2', ...CARRIER, account: '1234567' }, /^fieldInvalid: .*account.*at most 6/],
      [{ kind: 'cmpp2', ...CARRIER, sender: 'Causeway' }, /^fieldInvalid: .*sender.*digits/],
      [{ kind: 'cmpp2', ...CARRIER, results: '8=slow' }, /^fieldInvalid: .*results/],
      [{ kind: 'cmpp2', ...CARRIER, sender: undefined }, /^fieldMissing: .*sender/],
      [{ kind: 'cmpp2', ...CARRIER, receipts: 'failures' }, /^fieldInvalid: .*receipts.*all or none/],
      [{ kind: 'sgip', ...CARRIER, ...SGIP, sessions: 2 }, /^fieldInvalid: .*sessions.*only for connectors of kind/],
      [{ kind: 'sgip', ...CARRIER, ...SGIP, corp_id: '123456' }, /^fieldInvalid: .*corp_id.*at most 5/],
      [{ kind: 'sgip', ...CARRIER, ...SGIP, allow: 'gateway' }, /^fieldInvalid: .*allow.*IP addresses or networks/],
      [{ kind: 'sgip', ...CARRIER, ...SGIP, allow: '' }, /^field(?:Invalid|Missing): .*allow/],
      [{ kind: 'sgip', ...CARRIER, ...SGIP, listen: '8801' }, /^fieldInvalid: .*listen.*an address and a port/],
      [{ kind: 'sgip', ...CARRIER, ...SGIP, listen: '10.0.0.999:1' }, /^fieldInvalid: .*listen/],
      [{ kind: 'sgip', ...CARRIER, ...SGIP, fee_type: 'x' }, /^fieldInvalid: .*fee_type/],
      [{ kind: 'sgip', ...CARRIER, ...SGIP, node: undefined }, /^fieldMissing: .*node/],
      [{ kind: 'cmpp2', ...CARRIER, account: undefined }, /^fieldMissing: .*account/],
      [{ kind: 'cmpp2', ...CARRIER, fee_user_type: 3 }, /^fieldInvalid: .*fee_user_type/],
      [{ kind: 'cmpp2', ...CARRIER, results: '0=throttled' }, /^fieldInvalid: .*results/],
      [{ kind: 'sgip', ...CARRIER, ...SGIP, password: undefined }, /^fieldMissing: .*password/],
    ];
    for (const [request, expected] of cases) assert.match(await refusal(request), expected, JSON.stringify(request));
  });
});
