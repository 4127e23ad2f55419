import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createShares } from './shares.ts';

function fill(max: number, holders: readonly string[]): Record<string, number> {
  const shares = createShares(max);
  for (let round = 0; round < max; round++) {
    for (const holder of holders) if (shares.mayTake(holder, 1)) shares.add(holder, 1);
  }
  return Object.fromEntries(holders.map((holder) => [holder, shares.heldBy(holder)]));
}

test('a holder gets half of the stock alone, a third beside another, and so on', () => {
  assert.deepEqual(fill(256, ['a']), { a: 128 });
  assert.deepEqual(fill(256, ['a', 'b']), { a: 86, b: 85 });
  assert.deepEqual(fill(256, ['a', 'b', 'c']), { a: 64, b: 64, c: 64 });
  assert.deepEqual(fill(1, ['a', 'b']), { a: 1, b: 0 });
});

test('something is left for the next holder, however many there are before the stock is used up', () => {
  const shares = createShares(256);
  for (let i = 0; i < 255; i++) {
    const holder = `client ${i}`;
    while (shares.mayTake(holder, 1) && shares.heldBy(holder) < 1) shares.add(holder, 1);
  }
  assert.equal(shares.mayTake('new', 1), true);
  shares.add('new', 1);
  assert.equal(shares.mayTake('too late', 1), false);
});

test('a released part can be taken again; a holder that was overdrawn gets nothing more', () => {
  const shares = createShares(10);
  shares.add('a', 12);
  assert.deepEqual([shares.free, shares.mayTake('b', 1)], [-2, false]);
  shares.add('a', -12);
  assert.deepEqual([shares.taken, shares.heldBy('a'), shares.mayTake('b', 10)], [0, 0, true]);
});
