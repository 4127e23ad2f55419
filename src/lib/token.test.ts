import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashToken, mintToken } from './token.ts';

test('a token carries 256 random bits and is safe in headers and URLs', () => {
  assert.equal(
    mintToken(() => Buffer.alloc(32, 255)),
    `cwy_${'_'.repeat(42)}8`,
  );
  assert.match(mintToken(), /^cwy_[\w-]{43}$/);
  assert.notEqual(mintToken(), mintToken());
});

test('the hash of a token is SHA-256 in hex', () => {
  assert.equal(hashToken('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
