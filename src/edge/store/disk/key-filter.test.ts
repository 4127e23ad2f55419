import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hashKey, splitHash } from '../key-hash.ts';
import { KeyFilter } from './key-filter.ts';

function keysOf(seed: number, count: number): readonly (readonly [high: number, low: number])[] {
  return Array.from({ length: count }, (_, index) => {
    const { high, low } = splitHash(hashKey(`${seed} ${index}`));
    return [high, low] as const;
  });
}

describe('a filter of keys', () => {
  test('a filter has all keys that it was made for, and few others', () => {
    for (const count of [1, 10, 1_000, 100_000]) {
      const filter = new KeyFilter(count);
      const keys = keysOf(count, count);
      for (const [high, low] of keys) filter.add(high, low);
      assert.equal(filter.isFull, false);
      assert.ok(keys.every(([high, low]) => filter.has(high, low)));
      const wrong = keysOf(count + 1, 10_000).filter(([high, low]) => filter.has(high, low)).length;
      assert.ok(wrong < 20, `${wrong} of 10,000`);
    }
  });

  test('a filter has a key until it is deleted, however often it was added', () => {
    const filter = new KeyFilter(10_000);
    const keys = keysOf(1, 10_000);
    for (const [high, low] of [...keys, ...keys]) filter.add(high, low);
    const [gone, left] = [keys.slice(0, 5_000), keys.slice(5_000)];
    for (const [high, low] of gone) filter.delete(high, low);
    assert.ok(gone.filter(([high, low]) => filter.has(high, low)).length < 20);
    assert.ok(left.filter(([high, low]) => !filter.has(high, low)).length < 20); // keys that were taken for one
  });

  test('a filter takes in new keys for ever while as many leave', () => {
    const filter = new KeyFilter(1_000);
    const keys = keysOf(2, 50_000);
    for (const [index, [high, low]] of keys.entries()) {
      filter.add(high, low);
      const old = keys[index - 1_000];
      if (old !== undefined) filter.delete(...old);
    }
    assert.equal(filter.isFull, false);
  });

  test('a filter says when a key found no room', () => {
    const filter = new KeyFilter(100);
    for (const [high, low] of keysOf(3, 1_000)) filter.add(high, low);
    assert.equal(filter.isFull, true);
  });
});
