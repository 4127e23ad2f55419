import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Lru } from './lru.ts';

describe('Lru', () => {
  test('the entry used longest ago is evicted first, and reading is a use', () => {
    const gone: string[] = [];
    const lru = new Lru<string, number>({ maxWeight: 2, onEvict: (key) => gone.push(key) });
    lru.set('a', 1);
    lru.set('b', 2);
    assert.equal(lru.get('a'), 1);
    lru.set('c', 3);
    assert.deepEqual(gone, ['b']);
    assert.equal(lru.get('b'), undefined);
    assert.equal(lru.size, 2);
  });

  test('weights are summed, also over replacing and deleting', () => {
    const lru = new Lru<string, number>({ maxWeight: 10, weigh: (value) => value });
    lru.set('a', 4);
    lru.set('b', 4);
    lru.set('a', 6);
    assert.equal(lru.weight, 10);
    lru.set('c', 5);
    assert.deepEqual([lru.get('a'), lru.get('b'), lru.get('c'), lru.weight], [undefined, undefined, 5, 5]);
    assert.equal(lru.delete('c'), true);
    assert.equal(lru.delete('c'), false);
    assert.equal(lru.weight, 0);
  });

  test('an entry that alone is too heavy is not kept, evicts nothing, and its old value is dropped', () => {
    const lru = new Lru<string, number>({ maxWeight: 10, weigh: (value) => value });
    lru.set('a', 4);
    lru.set('b', 4);
    assert.equal(lru.set('a', 11), false);
    assert.deepEqual([lru.get('a'), lru.get('b'), lru.weight], [undefined, 4, 4]);
  });

  test('clearing empties an LRU without evictions', () => {
    const lru = new Lru<string, number>({ maxWeight: 2, onEvict: () => assert.fail() });
    lru.set('a', 1);
    lru.clear();
    assert.deepEqual([lru.size, lru.weight], [0, 0]);
  });

  test('law: an LRU keeps and evicts what a list in the order of use would', () => {
    const key = fc.integer({ min: 0, max: 5 });
    const step = fc.oneof(
      fc.record({ kind: fc.constantFrom('get', 'delete'), key, weight: fc.constant(0) }),
      fc.record({ kind: fc.constant('set'), key, weight: fc.integer({ min: 1, max: 6 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const evicted: number[] = [];
        const expectedEvicted: number[] = [];
        const lru = new Lru<number, number>({
          maxWeight: 10,
          weigh: (value) => value,
          onEvict: (gone) => evicted.push(gone),
        });
        let list: { readonly key: number; readonly weight: number }[] = [];
        const weightOf = () => list.reduce((sum, { weight }) => sum + weight, 0);
        for (const { kind, key, weight } of steps) {
          const found = list.find((one) => one.key === key);
          if (kind === 'get') assert.equal(lru.get(key), found?.weight);
          else if (kind === 'delete') assert.equal(lru.delete(key), found !== undefined);
          else lru.set(key, weight);
          list = list.filter((one) => one !== found);
          if (kind === 'get' && found !== undefined) list.push(found);
          if (kind === 'set') list.push({ key, weight });
          while (weightOf() > 10) expectedEvicted.push(list.shift()?.key ?? -1);
        }
        assert.deepEqual(
          lru.values(),
          list.map(({ weight }) => weight),
        );
        assert.deepEqual([lru.size, lru.weight, evicted], [list.length, weightOf(), expectedEvicted]);
      }),
    );
  });
});
