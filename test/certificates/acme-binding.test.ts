/** Accounts that are bound to one that the operator has at the authority (RFC 8555 §7.3.4), with Pebble. */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createSigner, makeKey } from '#acme/jws.ts';
import { startAcmeWorld } from '../support/certificates/acme.ts';
import { newSqlite } from '../support/db/databases.ts';
import { needs } from '../support/runner/needs.ts';

const BOUND = needs('pebble', 'openssl', { timeout: 180_000 });
const MAC_KEY = randomBytes(48);
const binding = { keyId: 'kid-1', macKey: MAC_KEY.toString('base64url') };
const options = { nonceReject: 0, externalAccounts: { 'kid-1': MAC_KEY.toString('base64url') } };

test('an external account binding is the public key, signed with the MAC key for the address of new accounts', () => {
  const signer = createSigner(makeKey());
  const url = 'https://ca.example/new-account';
  // `as`: what is looked at below.
  const bound = signer.bind(binding, url) as { protected: string; payload: string; signature: string };
  const decode = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString());
  assert.deepEqual(decode(bound.protected), { alg: 'HS256', kid: 'kid-1', url });
  const outer = JSON.parse(signer.sign({ url, nonce: 'n', account: '' }, {}));
  assert.deepEqual(decode(bound.payload), decode(outer.protected).jwk);
  const expected = createHmac('sha256', MAC_KEY).update(`${bound.protected}.${bound.payload}`).digest('base64url');
  assert.equal(bound.signature, expected);
  const standard = { ...binding, macKey: MAC_KEY.toString('base64') };
  assert.deepEqual(signer.bind(standard, url), bound, 'some authorities show the key in base64');
});

test(
  'an authority that asks for a binding accepts an account that has one; the MAC key is stored nowhere',
  BOUND,
  async (t) => {
    const world = await startAcmeWorld(t, newSqlite, options);
    world.binding = binding;
    await world.request();
    assert.equal((await world.run()).state, 'issued');
    const rows = await world.db.query.selectFrom('acme_account').selectAll().execute();
    assert.equal(rows.length, 1);
    const kept = JSON.stringify(rows) + world.logLines.join('');
    for (const form of ['base64url', 'base64', 'hex'] as const)
      assert.equal(kept.includes(MAC_KEY.toString(form)), false);
  },
);

test('a refused account holds orders up with the reason, and is tried again every five minutes', BOUND, async (t) => {
  const world = await startAcmeWorld(t, newSqlite, options);
  const signUps = () => world.asked.filter((what) => what === 'POST sign-me-up').length;
  await world.request();
  await world.round();
  const missing = await world.order();
  assert.deepEqual([missing?.state, missing?.problem, missing?.failures], ['pending', 'refused', 0]);
  assert.match(
    missing?.detail ?? '',
    /^the account is refused: .*; the operator has to set acme-eab-key-id and acme-eab-mac-key$/,
  );
  assert.equal(missing?.dueAt, world.now + 300_000);
  assert.equal(signUps(), 0, 'the directory says so');

  world.binding = { ...binding, macKey: randomBytes(48).toString('base64url') };
  const work = await world.newWorker();
  world.now += 300_000;
  await work();
  const refused = await world.order();
  assert.deepEqual([refused?.state, refused?.problem, refused?.dayOrders], ['pending', 'refused', 0]);
  assert.match(refused?.detail ?? '', /^the account is refused: \S/);
  assert.equal(signUps(), 1);
  await world.db.query.updateTable('certificate_order').set({ due_at: world.now }).execute();
  await work();
  assert.equal(signUps(), 1, 'not again at once, whichever order is due');
  assert.equal((await world.order())?.problem, 'refused');

  world.binding = binding; // the operator has put it right
  world.now += 300_000;
  assert.equal((await world.run()).state, 'issued');
  assert.equal(world.logLines.join('').includes(MAC_KEY.toString('base64url')), false);
});
