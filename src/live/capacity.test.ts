import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseEmptied } from '#fanout/emptied.ts';
import { Capacity } from './capacity.ts';

const holdings = (...list: readonly (readonly [name: string, domainId: number, bytes: number])[]) =>
  list.map(([name, domainId, bytes]) => ({ name, domainId, bytes }));

test('streams are emptied until each domain holds no more than it leaves free', () => {
  const rows = [
    { holdings: holdings(), emptied: [] },
    { holdings: holdings(['a', 1, 50]), emptied: [] },
    { holdings: holdings(['a', 1, 51]), emptied: ['a'] },
    // The largest goes, not all.
    { holdings: holdings(['a', 1, 10], ['b', 1, 30], ['c', 1, 20]), emptied: ['b'] },
    { holdings: holdings(['a', 1, 33], ['b', 2, 33]), emptied: [] },
    // Whoever holds little keeps it.
    { holdings: holdings(['a', 1, 30], ['b', 1, 29], ['c', 2, 5]), emptied: ['a'] },
    { holdings: holdings(['a', 1, 80], ['b', 2, 80], ['c', 3, 1]), emptied: ['a', 'b'] },
  ];
  for (const { holdings, emptied } of rows)
    assert.deepEqual(
      chooseEmptied(holdings, 100).map(({ name }) => name),
      emptied,
    );
});

test('a domain alone gets half of the streams, and leaves the next one a share', () => {
  const capacity = new Capacity({ maxStreams: 4, maxBytes: 100 });
  for (let i = 0; i < 2; i++) {
    assert.equal(capacity.refusal(1, 0), undefined);
    capacity.enter(1);
  }
  assert.equal(capacity.refusal(1, 0), 'streams');
  assert.equal(capacity.refusal(2, 0), undefined);
  capacity.leave(1);
  assert.equal(capacity.refusal(1, 0), undefined);
});

test('a domain whose streams were emptied gets no more of them for a while', () => {
  const capacity = new Capacity({ maxStreams: 4, maxBytes: 100 });
  assert.deepEqual(
    capacity.measure(holdings(['a', 1, 60]), 0).map(({ name }) => name),
    ['a'],
  );
  assert.deepEqual([capacity.refusal(1, 9_999), capacity.refusal(2, 9_999)], ['memory', undefined]);
  assert.equal(capacity.refusal(1, 10_000), undefined);
});

test('a domain may begin many broadcasts at once, and ten a second in the long run', () => {
  const capacity = new Capacity({ maxStreams: 4, maxBytes: 100 });
  const begin = (count: number, now: number) => Array.from({ length: count }, () => capacity.begin(1, now));
  assert.ok(begin(2_500, 0).every(Boolean));
  assert.deepEqual(begin(1, 0), [false]);
  assert.equal(capacity.begin(2, 0), true);
  assert.equal(begin(100, 1_000).filter(Boolean).length, 10);
});
