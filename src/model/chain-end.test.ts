import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthority } from '../../test/support/certificates/certificate.ts';
import { needs } from '../../test/support/runner/needs.ts';
import { findMissingIssuer } from './chain-end.ts';

test('the issuer of a chain is missing unless it is there, or known', needs('openssl'), (t) => {
  const [authority, other] = [createAuthority(t), createAuthority(t)];
  const { cert } = authority.issue(['a.example.com'], { hasIntermediate: true });
  const [leaf = '', intermediate = ''] = cert.match(/-----BEGIN[\s\S]*?-----END CERTIFICATE-----\n/g) ?? [];
  const [known, missing] = [[other.ca, authority.ca], 'CN=test intermediate'];
  for (const [text, authorities, expected] of [
    [leaf, known, missing],
    [cert, known, undefined],
    [intermediate + leaf, known, undefined],
    [cert, [other.ca], 'CN=test authority'],
    [cert + authority.ca, [], undefined],
    [leaf + other.ca, known, missing],
    [authority.ca, [], undefined],
    [leaf, [], missing],
    ['no PEM', [], undefined],
  ] as const) {
    assert.equal(findMissingIssuer(text, authorities), expected);
  }
});
