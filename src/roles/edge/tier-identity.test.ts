import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTestFleet } from '../../../test/support/edge/tiers.ts';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { openTierIdentity } from './tier-identity.ts';

test('an identity that cannot be read is opened all the same, and read once it is there', async (t) => {
  const folder = temporaryFolder(t);
  const fleetFiles = { ca: join(folder, 'ca'), cert: join(folder, 'cert'), key: join(folder, 'key') };
  const config = { followsFleet: true, dataDir: folder, controls: [], fleetFiles };
  const identity = (await openTierIdentity(config)) ?? assert.fail();
  const { cert, key, ca } = createTestFleet(t, []).issue('fra1');
  assert.throws(() => identity.tls([]), /identity of this edge cannot be read/);
  assert.equal(identity.readLeaf(new X509Certificate(cert)), undefined);
  writeFileSync(fleetFiles.ca, ca.join(''));
  writeFileSync(fleetFiles.cert, cert);
  writeFileSync(fleetFiles.key, key);
  assert.deepEqual(identity.tls([]), { cert, key, ca: [ca.join('')] });
  writeFileSync(fleetFiles.cert, 'half a file');
  assert.equal(identity.tls([]).cert, cert, 'the last one that could be read');
});
