import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { createAuthority } from '../../../test/support/certificates/certificate.ts';
import { needs, obtain } from '../../../test/support/runner/needs.ts';
import { leafOf, readPem } from './pem.ts';
import { pemProblems } from './pem-problems.ts';

describe('PEM in the browser', needs('openssl'), () => {
  test('names and end are those that another reader finds, for every kind of key', (t) => {
    const authority = createAuthority(t);
    for (const options of [{}, { isRsa: true }, { isEd25519: true }, { days: 20_000 }]) {
      const { cert } = authority.issue(['www.example.com', '*.example.org', '192.0.2.1', '2001:db8::1'], options);
      const { names, endsAt, isAuthority } = leafOf(readPem(cert)) ?? assert.fail('nothing is found');
      const known = new X509Certificate(cert);
      assert.equal(endsAt, Date.parse(known.validTo));
      assert.deepEqual(names, ['www.example.com', '*.example.org', '192.0.2.1', '2001:db8:0:0:0:0:0:1']);
      assert.equal(isAuthority, false);
    }
  });

  test('the leaf is found among its chain in any order, and the key is separated', (t) => {
    const authority = createAuthority(t);
    const { cert, key } = authority.issue(['a.example'], { hasIntermediate: true });
    const [leaf = '', above = ''] = cert.split(/(?<=-----END CERTIFICATE-----\n)/);
    const content = readPem(`${key}\r\nsome words\n${above}${leaf}`);
    assert.equal(content.certificates.length, 2);
    assert.deepEqual(leafOf(content)?.names, ['a.example']);
    assert.equal(content.certificateText, above + leaf);
    assert.equal(content.keyText, key);
    assert.equal(content.isKeyEncrypted, false);
  });

  test('what is wrong is said before it is sent', (t) => {
    const authority = createAuthority(t);
    const { cert, key } = authority.issue(['a.example']);
    const { cert: ended } = authority.issue(['a.example'], { isExpired: true });
    const encrypt = ['pkey', '-aes256', '-passout', 'pass:secret'];
    const encrypted = String(execFileSync(obtain('openssl'), encrypt, { input: key, stdio: 'pipe' }));
    const rows: readonly (readonly [certificate: string, key: string, problems: readonly (string | undefined)[]])[] = [
      ['', '', [undefined, undefined]],
      [cert, key, [undefined, undefined]],
      [key, cert, ['none', 'noKey']],
      [ended, key + key, ['ended', 'keys']],
      [authority.ca, encrypted, ['noNames', 'encrypted']],
      [cert.replace(/\n[A-Za-z0-9+/]{40}/, '\n'), 'x', ['unreadable', 'noKey']],
      ['-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----', '', ['unreadable', undefined]],
    ];
    for (const [certificate, keyText, [first, second]] of rows)
      assert.deepEqual(pemProblems(certificate, keyText, Date.now()), { certificate: first, key: second });
  });

  test('no cut or changed certificate is more than unreadable', (t) => {
    const { cert } = createAuthority(t).issue(['a.example']);
    const der = Buffer.from(cert.replace(/-----[^-]+-----|\s/g, ''), 'base64');
    for (let at = 0; at < der.length; at += 1) {
      const changed = Buffer.from(der);
      changed[at] = 0xff;
      for (const bytes of [der.subarray(0, at), changed]) {
        const pem = `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----`;
        const { certificates, unreadable } = readPem(pem);
        assert.equal(certificates.length + unreadable, 1);
      }
    }
  });
});
