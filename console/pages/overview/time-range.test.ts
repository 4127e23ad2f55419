import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { grainOf, lastSeconds } from './time-range.ts';

const SECONDS = { minute: 60, hour: 3600, day: 86_400 };
const NOON = Date.UTC(2026, 0, 31, 12, 0, 0);

describe('ranges of statistics', () => {
  test('a range ends with the minute under way, and is the same within it', () => {
    const range = lastSeconds(3600, NOON + 1);
    assert.deepEqual(range, { from: NOON / 1000 - 3540, to: NOON / 1000 + 60 });
    assert.deepEqual(lastSeconds(3600, NOON + 59_999), range);
  });

  test('the grain keeps a chart below 500 points', () => {
    for (const days of [1 / 24, 0.25, 1, 3, 7, 30, 90]) {
      const range = { from: 0, to: days * 86_400 };
      const points = (range.to - range.from) / SECONDS[grainOf(range)];
      assert.ok(points <= 400 && points >= 7, `${days} days: ${points} points`);
    }
  });
});
