import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyHasher, hashKey } from './key-hash.ts';

test('a hasher that remembers the last key gives every key its own hash', () => {
  const hash = createKeyHasher();
  for (const key of ['', 'a', 'a', 'b', 'a', '']) assert.equal(hash(key), hashKey(key));
});
