import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base32, totpCode, totpStepOf, totpUrl } from './totp.ts';

/** RFC 6238, Appendix B: the last six of eight digits. */
const KEY = Buffer.from('12345678901234567890');
const ROWS = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
] as const;

test('codes are those of RFC 6238', () => {
  for (const [seconds, code] of ROWS) assert.equal(totpCode(KEY, Math.floor(seconds / 30)), code);
});

test('a code counts in its step, the one before and the next', () => {
  const now = 59_000;
  assert.equal(totpStepOf(KEY, '287082', now), 1);
  assert.equal(totpStepOf(KEY, '287082', now + 30_000), 1);
  assert.equal(totpStepOf(KEY, '287082', now - 30_000), 1);
  assert.equal(totpStepOf(KEY, '287082', now + 60_000), undefined);
  assert.equal(totpStepOf(KEY, '', now), undefined);
});

test('a key is shown as Base32', () => {
  assert.equal(base32(Buffer.from('foobar')), 'MZXW6YTBOI');
  assert.equal(
    totpUrl(KEY, 'Causeway', 'a b@example.com'),
    'otpauth://totp/Causeway:a%20b%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Causeway',
  );
});
