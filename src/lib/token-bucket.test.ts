import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TokenBuckets } from './token-bucket.ts';

describe('token buckets', () => {
  test('token buckets give their burst at once and then the inflow', () => {
    const buckets = new TokenBuckets({ perSecond: 2, burst: 3, maxKeys: 10 });
    const taken = (now: number) => buckets.take('a', now).kind === 'taken';
    assert.deepEqual([taken(0), taken(0), taken(0), taken(0)], [true, true, true, false]);
    assert.deepEqual(buckets.take('a', 100), { kind: 'empty', waitMs: 400 });
    assert.deepEqual([taken(499), taken(500), taken(500)], [false, true, false]);
    assert.deepEqual(
      [taken(60_000), taken(60_000), taken(60_000), taken(60_000)],
      [true, true, true, false],
      'never more than the burst',
    );
    assert.equal(taken(0), false, 'a caller that comes late gains nothing');
  });

  test('token buckets give several at once or none', () => {
    const buckets = new TokenBuckets({ perSecond: 10, burst: 5, maxKeys: 10 });
    assert.equal(buckets.available('a', 0), 5);
    assert.equal(buckets.take('a', 0, 4).kind, 'taken');
    assert.deepEqual(buckets.take('a', 0, 3), { kind: 'empty', waitMs: 200 });
    assert.deepEqual([buckets.available('a', 0), buckets.available('a', 199)], [1, 2]);
    assert.equal(buckets.take('a', 200, 3).kind, 'taken');
  });

  test('token buckets are kept for the keys used last', () => {
    const buckets = new TokenBuckets({ perSecond: 1, burst: 1, maxKeys: 2 });
    for (const key of ['a', 'b', 'c']) buckets.take(key, 0);
    assert.deepEqual(
      ['b', 'c', 'a'].map((key) => buckets.take(key, 0).kind),
      ['empty', 'empty', 'taken'],
    );
  });
});
