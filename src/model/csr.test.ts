import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { test } from 'node:test';
import { needs, obtain } from '../../test/support/runner/needs.ts';
import { MAX_CSR_BYTES, makeCsr, readCsr } from './csr.ts';
import { derBits, derSequence, readElements } from './der.ts';

const LABEL = 'a'.repeat(60);

for (const name of ['a.example', 'xn--fiqs8s.example', `${LABEL}.${LABEL}.${LABEL}.${LABEL}.example`]) {
  test(`openssl reads and verifies a request for ${name.length} characters`, needs('openssl'), () => {
    const input = makeCsr(name, newKey());
    const args = ['req', '-inform', 'DER', '-verify', '-noout', '-text'];
    const said = execFileSync(obtain('openssl'), args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });
    assert.match(said, /Version: 1 \(0x0\)\s+Subject: *\n/);
    assert.match(said, new RegExp(`DNS:${name.replaceAll('.', '\\.')}\\n`));
    assert.match(said, /ecdsa-with-SHA256/);
  });
}

test('the key of a request is read, and requests that are not well signed or not of P-256 are refused', () => {
  const key = newKey();
  const good = makeCsr('', key);
  const read = readCsr(good);
  assert.equal(read.kind, 'csr');
  const [info, algorithm] = readElements(readElements(good)[0]?.content);
  assert.ok(info !== undefined && algorithm !== undefined);
  const byAnother = derBits(sign('sha256', info.raw, newKey()));
  const p384 = generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey;
  const last = good.length - 1;
  const rows: readonly (readonly [what: string, der: Buffer, reason: RegExp])[] = [
    ['empty', Buffer.alloc(0), /not PKCS #10/],
    ['cut', good.subarray(0, -1), /./],
    ['longer', Buffer.concat([good, Buffer.of(0)]), /not PKCS #10/],
    ['too long', Buffer.alloc(MAX_CSR_BYTES + 1), /longer than 4096 bytes/],
    ['signed by another key', derSequence(info.raw, algorithm.raw, byAnother), /does not match its key/],
    ['changed', Buffer.concat([good.subarray(0, last), Buffer.of((good[last] ?? 0) ^ 1)]), /does not match its key/],
    ['without a signature', derSequence(info.raw, algorithm.raw), /does not match its key/],
    ['of another curve', makeCsr('', p384), /not of P-256/],
    ['of RSA', makeCsr('', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey), /not of P-256/],
  ];
  for (const [what, der, reason] of rows) {
    const refused = readCsr(der);
    assert.match(refused.kind === 'invalid' ? refused.reason : 'accepted', reason, what);
  }
});

function newKey() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}
