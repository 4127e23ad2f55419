import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createAuthority } from '../../../test/support/certificates/certificate.ts';
import { needs } from '../../../test/support/runner/needs.ts';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { acceptPut } from '../client/accept.ts';
import { createCertificateOpener, createEdgeKey, edgeKeyPath } from './edge-key.ts';
import { openEdgeStore, openSiteReader } from './edge-store.ts';

const BODY = '{"certificate":"c","key":"k"}';

test("a certificate sealed with an edge's key opens for that certificate only, also in another process", (t) => {
  const file = join(temporaryFolder(t), 'key');
  const key = createEdgeKey(file);
  const opener = createCertificateOpener(file);
  const closed = key.close('one', BODY);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.ok(!closed.includes('certificate'));
  for (const reader of [key, opener, createEdgeKey(file)]) {
    assert.equal(reader.open('one', closed), BODY);
    assert.equal(reader.open('two', closed), undefined);
    assert.equal(reader.open('one', BODY), undefined);
    assert.equal(reader.open('one', 'no JSON'), undefined);
  }
  assert.equal(key.hasChanged(), false);
  chmodSync(file, 0o640); // whoever read it has the key
  assert.equal(key.hasChanged(), true);
  const anew = key.close('one', BODY);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(key.open('one', closed), undefined);
  assert.equal(opener.open('one', anew), BODY, 'a worker follows the file');
});

describe('an edge’s file', needs('openssl'), () => {
  test("an edge's file holds certificates sealed; without their key it cannot be used, and its other data stays", (t) => {
    const file = join(temporaryFolder(t), 'sites.db');
    const { key, cert: certificate } = createAuthority(t).issue(['a.example.com']);
    const other = createAuthority(t).issue(['a.example.com']);
    const put = (body: unknown, name = 'one') =>
      acceptPut({ kind: 'certificate', key: name, revision: 1, op: 'put', body });
    const site = { kind: 'put', resource: 'x', key: 'a', revision: 1, body: '{}' } as const;
    const place = { epoch: 'e', revision: 1, tag: 't', continues: true };
    const open = () => openEdgeStore(file, () => assert.fail('nothing is damaged'));
    {
      using store = open();
      using staging = store.stageSnapshot();
      staging.add(site);
      staging.add(put({ certificate, key }));
      staging.commit(place, 1);
      store.applyDelta({ revision: 2, tag: 't2' }, [put({ certificate, key }, 'two')], 1);
      assert.deepEqual(store.getCertificate('one'), { certificate, key });
      using reader = openSiteReader(file);
      assert.deepEqual(reader.getCertificate('two'), { certificate, key });
      const bytes = ['', '-wal'].map((end) => readFileSync(file + end, 'latin1')).join('');
      assert.ok(!bytes.includes('PRIVATE') && !bytes.includes('BEGIN'));

      writeFileSync(edgeKeyPath(file), 'spoilt');
      assert.equal(store.repair(), true);
      assert.deepEqual([store.head(), store.getCertificate('one')], [undefined, undefined]);
      assert.equal(reader.getCertificate('one'), undefined);
      assert.equal(store.repair(), false);
      using again = store.stageSnapshot();
      again.add(put({ certificate, key }));
      again.commit(place, 1);
      assert.deepEqual(reader.getCertificate('one'), { certificate, key });
    }
    writeFileSync(edgeKeyPath(file), `${'0'.repeat(64)}\n`);
    {
      using store = open();
      assert.equal(store.head(), undefined);
    }
    for (const [body, error] of [
      [{ certificate, key: other.key }, /^the private key does not belong to the certificate$/],
      [{ certificate: 'x', key }, /cannot be read$/],
      [{ certificate }, /expected texts$/],
      [{ problem: 'it does not open' }, /^it does not open$/],
    ] as const) {
      const change = put(body);
      assert.ok(change.kind === 'reject');
      assert.match(change.error, error);
    }
  });
});
