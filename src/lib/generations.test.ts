import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Generations } from './generations.ts';

describe('a map in two generations', () => {
  test('a map in two generations keeps used entries, and forgets those that two generations have not used', () => {
    const map = new Generations<number, string>({ maxWeight: () => 20 });
    for (let i = 0; i < 100; i++) {
      map.set(i, `v${i}`);
      assert.equal(map.get(0), 'v0');
    }
    assert.equal(map.get(99), 'v99');
    assert.equal(map.get(50), undefined);
  });

  test('a map in two generations never exceeds its bound, and shrinks when its bound does', () => {
    let max = 200;
    const map = new Generations<number, number>({ maxWeight: () => max, weigh: (value) => value });
    for (let i = 0; i < 4_000; i++) {
      max = i < 2_000 ? 200 : 130;
      map.trim();
      map.set(i % 70, (i * 37) % 60);
      if (i % 3 === 0) map.get((i * 7) % 70);
      if (i % 5 === 0) map.delete((i * 11) % 70);
      const held = Array.from({ length: 70 }, (_, key) => map.get(key) ?? 0).reduce((sum, value) => sum + value, 0);
      assert.ok(held <= max, `${held}`);
    }
  });

  test('a map in two generations replaces, deletes, and refuses entries heavier than a generation', () => {
    const map = new Generations<string, number>({ maxWeight: () => 20, weigh: (value) => value });
    map.set('a', 4);
    map.set('a', 5);
    map.set('b', 11);
    assert.equal(map.get('a'), 5);
    assert.equal(map.get('b'), undefined);
    map.delete('a');
    assert.equal(map.get('a'), undefined);
  });
});
