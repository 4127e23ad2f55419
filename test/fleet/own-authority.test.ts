/** Edges with certificates of the operator's own authority: known by their id, announced, revoked. docs/decisions/0585 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { saveGroup } from '#db/tables/edge-groups.ts';
import { findEnrolledEdge } from '#db/tables/fleet/enrolled-edges.ts';
import { createIdentityReader } from '#fleet/identity-reader.ts';
import { addEdge, revokeEdge } from '#fleet/operate.ts';
import { announceIdentity } from '#fleet/own-identity.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { ask } from '../support/fleet/ask.ts';
import { createFleet, newMachine } from '../support/fleet/fleet.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('an edge with a certificate of the own authority is known by its id', needs('openssl'), async (t) => {
  const authority = createAuthority(t);
  const folder = temporaryFolder(t);
  const write = (name: string, { cert, key }: { readonly cert: string; readonly key: string }) => {
    const files = { ca: authority.caFile, cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
    return files;
  };
  const own = write('control', authority.issue(['127.0.0.1', 'control.example']));
  const fleet = await createFleet(t, await newSqlite(t), { own });
  const read = (name: string, issued: { readonly cert: string; readonly key: string }) => {
    const source = { dataDir: newMachine(t), own: write(name, issued), controls: [fleet.control] };
    return { dataDir: source.dataDir, identity: createIdentityReader(source) };
  };
  const { dataDir, identity } = read('fra1', authority.issue(['fra1']));
  const word = async (who = identity()) => (await ask(fleet.control, who)).text.split(':')[0];
  assert.deepEqual([identity().edge, identity().fleet], ['fra1', '']);
  assert.match((await ask(fleet.control, identity())).text, /^unknown: .*causeway edge add/);
  const act = { edge: 'fra1', now: fleet.now, actor: 'token:0' };
  assert.equal(await addEdge(fleet.db, { ...act, group: 'eu', labels: {} }), 'groupUnknown');
  await fleet.db.transaction((trx) => saveGroup(trx, { name: 'eu', isDefault: false, now: 0 }));
  assert.equal(await addEdge(fleet.db, { ...act, group: 'eu', labels: {} }), 'added');
  await eventually('control has noticed it', async () => (await ask(fleet.control, identity())).status === 200);
  assert.equal(JSON.parse((await ask(fleet.control, identity())).text).group, 'eu');

  await announceIdentity(dataDir, identity());
  assert.match(identity().fleet, /^[0-9a-f]{8}$/);
  const enrolled = await findEnrolledEdge(fleet.db.query, 'fra1');
  assert.equal(enrolled?.machine, identity().machine);
  assert.equal(Buffer.from(enrolled?.sealKey ?? '', 'base64').length, 32);

  const { identity: byUri } = read('uri', issueUri(authority, identity().fleet, 'fra1'));
  assert.equal(byUri().edge, 'fra1');
  assert.equal(await word(byUri()), 'clone', 'another machine has it');
  const { identity: expired } = read('expired', authority.issue(['fra1'], { isExpired: true }));
  assert.match((await ask(fleet.control, expired())).text, /^certificate: .* has expired/, 'TLS does not verify it');

  assert.equal(await revokeEdge(fleet.db, { ...act, reason: '' }), true);
  await eventually('control has noticed it', async () => (await word()) === 'revoked');
});

function issueUri(authority: ReturnType<typeof createAuthority>, fleet: string, edge: string) {
  return authority.issue([], {
    extensions: [`subjectAltName=URI:urn:causeway:${fleet}:edge:${edge}`, 'extendedKeyUsage=clientAuth'],
  });
}
