import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { before, changeOf, filled, grainOf, lastSeconds } from './time-range.ts';

const NOON = Date.UTC(2026, 0, 31, 12, 0, 0);

describe('ranges of statistics', () => {
  test('a range ends with the minute under way, and is the same within it', () => {
    const range = lastSeconds(3600, NOON + 1);
    assert.deepEqual(range, { from: NOON / 1000 - 3540, to: NOON / 1000 + 60 });
    assert.deepEqual(lastSeconds(3600, NOON + 59_999), range);
    assert.deepEqual(before(range), { from: range.from - 3600, to: range.from });
  });

  test('the grain keeps a chart below 500 points', () => {
    for (const days of [1 / 24, 0.25, 1, 3, 7, 30, 90]) {
      const range = { from: 0, to: days * 86_400 };
      const points = filled([], grainOf(range), range).length;
      assert.ok(points <= 400 && points >= 7, `${days} days: ${points} points`);
    }
  });

  test('intervals without requests are zeros, also where days begin at another hour than in UTC', () => {
    const day = 86_400;
    const start = Date.UTC(2026, 0, 29, 16) / 1000; // midnight in Shanghai
    const shown = filled([{ time: start, requests: 7 }], 'day', { from: start - 3600, to: start + 2 * day });
    assert.deepEqual(shown, [
      { time: start - day, point: undefined },
      { time: start, point: { time: start, requests: 7 } },
      { time: start + day, point: undefined },
    ]);
  });

  test('a change from nothing has no share', () => {
    assert.equal(changeOf(3, 0), undefined);
    assert.equal(changeOf(3, 2), 0.5);
  });
});
