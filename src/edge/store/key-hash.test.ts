import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyHasher, hashKey } from './key-hash.ts';

test('a hasher that remembers keys gives every key its own hash', () => {
  const hash = createKeyHasher();
  for (const key of ['', 'a', 'a', 'b', 'a', '', ...manyKeys(), ...manyKeys()]) assert.equal(hash(key), hashKey(key));
});

/** More than are remembered. */
function manyKeys(): readonly string[] {
  return Array.from({ length: 600 }, (_, i) => `1  www.example.com /${i}`);
}
