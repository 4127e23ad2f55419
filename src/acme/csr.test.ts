import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { test } from 'node:test';
import { needs, obtain } from '../../test/support/runner/needs.ts';
import { makeCsr } from './csr.ts';
import { makeKey } from './jws.ts';

const LABEL = 'a'.repeat(60);

for (const name of ['a.example', 'xn--fiqs8s.example', `${LABEL}.${LABEL}.${LABEL}.${LABEL}.example`]) {
  test(`openssl reads and verifies a request for ${name.length} characters`, needs('openssl'), () => {
    const input = makeCsr(name, createPrivateKey(makeKey()));
    const args = ['req', '-inform', 'DER', '-verify', '-noout', '-text'];
    const said = execFileSync(obtain('openssl'), args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });
    assert.match(said, /Version: 1 \(0x0\)\s+Subject: *\n/);
    assert.match(said, new RegExp(`DNS:${name.replaceAll('.', '\\.')}\\n`));
    assert.match(said, /ecdsa-with-SHA256/);
  });
}
