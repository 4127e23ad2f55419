import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rankParents } from './rank.ts';

const PARENTS = ['par1', 'par2', 'fra1', 'lon1', 'lon2'].map((edge) => ({ edge }));
const KEYS = Array.from({ length: 10_000 }, (_, n) => `7  www.example.com /object-${n}`);

const bestOf = (parents: readonly { readonly edge: string }[], key: string) => rankParents(parents, key)[0]?.edge;

test('every parent is ranked, in the same order whatever the order of the list', () => {
  for (const key of KEYS.slice(0, 100)) {
    const ranked = rankParents(PARENTS, key);
    assert.deepEqual(rankParents(PARENTS.toReversed(), key), ranked);
    assert.deepEqual(new Set(ranked), new Set(PARENTS));
  }
});

test('keys are spread evenly over the parents', () => {
  for (const { edge } of PARENTS) {
    const own = KEYS.filter((key) => bestOf(PARENTS, key) === edge).length;
    assert.ok(own > 1800 && own < 2200, `${edge} has ${own}`);
  }
});

test('a parent that leaves moves its own keys only, each to the second of its ranking', () => {
  const others = PARENTS.filter(({ edge }) => edge !== 'fra1');
  for (const key of KEYS.slice(0, 1000)) {
    const [best, second] = rankParents(PARENTS, key);
    assert.equal(bestOf(others, key), best?.edge === 'fra1' ? second?.edge : best?.edge);
  }
});
