/** `/operator/*` for identities of edges over HTTP on both engines: tokens, revocation, copies, the authority. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { pinOf } from '#fleet/authority.ts';
import { enrol } from '#fleet/enrol.ts';
import { makeCsr } from '#model/csr.ts';
import { START } from '../support/api/api.ts';
import { dataOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';

const HOUR_SECONDS = 3600;

describeOnBothEngines('identities of edges', (newDatabase) => {
  test('operators create, list and revoke tokens for edges', async (t) => {
    const { operate, mine } = await startWithCustomers(t, newDatabase);
    assert.equal((await mine('fleetOperator.listTokens', {})).http, 404);
    assert.equal((await operate('fleetOperator.rotateAuthority', { step: 'begin' })).errorCode, 'fleetCaMissing');
    const empty = dataOf(await operate('fleetOperator.getAuthority', {}));
    assert.match(String(empty['fleet']), /^[0-9a-f]{8}$/);
    assert.deepEqual(empty['authorities'], []);
    await operate('groupOperator.set', { name: 'eu', default: 0 });
    const made = dataOf(
      await operate('fleetOperator.createToken', {
        group: 'eu',
        edge_id: 'fra1',
        labels: 'rack=b7,row=2',
        addresses: '192.0.2.0/24',
        replace: 1,
      }),
    );
    const token = String(made['edge_token']);
    assert.match(token, /^cwf1\.[\w-]{43}\.[\w-]{43}$/);
    const listed = await operate('fleetOperator.listTokens', {});
    assert.equal(JSON.stringify(listed.body).includes(token.split('.')[1] ?? token), false);
    assert.deepEqual(dataOf(listed)['list'], [
      {
        token_id: made['token_id'],
        group: 'eu',
        edge_id: 'fra1',
        labels: { rack: 'b7', row: '2' },
        addresses: ['192.0.2.0/24'],
        replace: '1',
        uses: 1,
        used: 0,
        created_at: START / 1000,
        expires_at: START / 1000 + HOUR_SECONDS,
        revoked_at: 0,
      },
    ]);
    const { authorities } = dataOf(await operate('fleetOperator.getAuthority', {}));
    assert.ok(Array.isArray(authorities));
    assert.equal(pinOf(new X509Certificate(authorities[0].certificate)), token.split('.')[2]);
    assert.equal(authorities[0].pin, token.split('.')[2]);
    assert.equal((await operate('fleetOperator.revokeToken', { token_id: made['token_id'] })).body['data'], true);
    const after = dataOf(await operate('fleetOperator.listTokens', {}))['list'];
    assert.ok(Array.isArray(after));
    assert.equal(after[0].revoked_at, START / 1000);
  });

  test('wrong fields and unknown names are refused', async (t) => {
    const { operate } = await startWithCustomers(t, newDatabase);
    const rows = [
      ['fleetOperator.createToken', { edge_id: 'fra1', uses: 2 }, 'edgeTokenUses'],
      ['fleetOperator.createToken', { replace: 1 }, 'edgeTokenReplace'],
      ['fleetOperator.createToken', { group: 'EU' }, 'fieldInvalid'],
      ['fleetOperator.createToken', { group: 'eu' }, 'groupNotFound'],
      ['fleetOperator.addEdge', { edge_id: 'fra1', group: 'eu' }, 'groupNotFound'],
      ['fleetOperator.createToken', { edge_id: 'a/b' }, 'fieldInvalid'],
      ['fleetOperator.createToken', { labels: ['rack'] }, 'fieldInvalid'],
      ['fleetOperator.createToken', { labels: Array.from({ length: 17 }, (_, n) => `l${n}=x`) }, 'fieldInvalid'],
      ['fleetOperator.createToken', { addresses: ['x'] }, 'entryInvalid'],
      ['fleetOperator.createToken', { valid_seconds: 59 }, 'fieldInvalid'],
      ['fleetOperator.createToken', { valid_seconds: 7 * 24 * HOUR_SECONDS + 1 }, 'fieldInvalid'],
      ['fleetOperator.createToken', { uses: 1001 }, 'fieldInvalid'],
      ['fleetOperator.revokeToken', { token_id: 99 }, 'edgeTokenNotFound'],
      ['fleetOperator.revokeEdge', { edge_id: 'fra1' }, 'edgeNotEnrolled'],
      ['fleetOperator.acceptEdge', { edge_id: 'fra1', serial: '4f' }, 'edgeNotEnrolled'],
      ['fleetOperator.acceptEdge', { edge_id: 'fra1', serial: 'XY' }, 'fieldInvalid'],
      ['fleetOperator.rotateAuthority', { step: 'next' }, 'fieldInvalid'],
    ] as const;
    for (const [name, request, code] of rows)
      assert.equal((await operate(name, request)).errorCode, code, `${name} ${JSON.stringify(request)}`);
  });

  test('where edges have certificates of the own authority there are no tokens', async (t) => {
    const { operate } = await startWithCustomers(t, newDatabase, { hasOwnFleetAuthority: true });
    assert.equal((await operate('fleetOperator.createToken', {})).errorCode, 'fleetHasNoTokens');
    assert.deepEqual(dataOf(await operate('fleetOperator.getAuthority', {}))['authorities'], []);
    assert.equal((await operate('fleetOperator.addEdge', { edge_id: 'fra1' })).body['data'], true);
  });

  test('an enrolled edge is accepted, revoked, and keeps the authority from being withdrawn', async (t) => {
    const { api, operate } = await startWithCustomers(t, newDatabase);
    const { edge_token: token } = dataOf(await operate('fleetOperator.createToken', { edge_id: 'fra1' }));
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const request = {
      token: String(token),
      csr: makeCsr('', key),
      seal: Buffer.alloc(32, 1).toString('base64'),
      edge: undefined,
      machine: 'a'.repeat(64),
      build: 'test',
      feed: undefined,
    };
    const issuer = { db: api.db, ring: api.ring, controls: [] };
    const { chain } = await enrol(issuer, { request, address: '127.0.0.1', now: api.now });
    const { serialNumber } = new X509Certificate(chain); // in upper case
    const serial = serialNumber.toLowerCase();
    const printed = serialNumber.replaceAll(/..(?!$)/g, '$&:'); // as `openssl x509 -text` prints it
    assert.equal(
      (await operate('fleetOperator.acceptEdge', { edge_id: 'fra1', serial: '4f' })).errorCode,
      'edgeSerialUnknown',
    );
    for (const given of [serial, serialNumber, printed])
      assert.equal((await operate('fleetOperator.acceptEdge', { edge_id: 'fra1', serial: given })).body['data'], true);
    assert.equal((await operate('fleetOperator.rotateAuthority', { step: 'finish' })).errorCode, 'fleetCaNotBegun');
    const next = dataOf(await operate('fleetOperator.rotateAuthority', { step: 'begin' }))['key_id'];
    assert.equal((await operate('fleetOperator.rotateAuthority', { step: 'begin' })).errorCode, 'fleetCaUnderWay');
    const held = await operate('fleetOperator.rotateAuthority', { step: 'finish' });
    assert.equal(held.errorCode, 'fleetCaInUse');
    assert.match(String(held.body['info']), /fra1/);
    for (let n = 0; n < 2; n += 1)
      assert.equal((await operate('fleetOperator.revokeEdge', { edge_id: 'fra1', reason: 'lost' })).body['data'], true);
    assert.equal(dataOf(await operate('fleetOperator.rotateAuthority', { step: 'finish' }))['key_id'], next);
    const { list } = dataOf(await operate('edgeOperator.events', {}));
    assert.ok(Array.isArray(list));
    await operate('groupOperator.set', { name: 'eu', default: 0 });
    const own = { edge_id: 'fra2', group: 'eu', labels: ['rack=b7'] };
    assert.equal((await operate('fleetOperator.addEdge', own)).body['data'], true);
    assert.equal((await operate('fleetOperator.addEdge', own)).errorCode, 'edgeEnrolled');
    assert.deepEqual(
      list.map(({ event, detail }) => `${event} ${detail}`),
      ['revoke lost', ...Array.from({ length: 3 }, () => `accept ${serial}`), 'enrol token 1, from 127.0.0.1'],
    );
  });
});
