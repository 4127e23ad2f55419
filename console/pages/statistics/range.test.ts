import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { STATISTICS_RANGES } from '../../routes/statistics.ts';
import { grainSeconds, keptGrainOf, shiftOf, spanOf, zoomedSpan } from './range.ts';

const HOUR = 3600;
const DAY = 86_400;
const NOW_MS = Date.UTC(2026, 0, 31, 12, 34, 56);
const NOW = Math.floor(NOW_MS / 1000);

describe('spans of statistics', () => {
  test('every range holds the present, and gives a chart that can be read', () => {
    for (const range of STATISTICS_RANGES) {
      const span = spanOf(range, NOW_MS);
      assert.ok(span.from < NOW && span.to > NOW, range);
      const points = (span.to - span.from) / grainSeconds(keptGrainOf(span, NOW_MS));
      assert.ok(points >= 24 && points <= 400, `${range}: ${points} points`);
    }
  });

  test('the grain is not finer than what is kept', () => {
    const grains: readonly (readonly [age: number, length: number, grain: string])[] = [
      [HOUR, HOUR, 'minute'],
      [7 * DAY, HOUR, 'minute'],
      [7 * DAY + 60, HOUR, 'hour'],
      [90 * DAY, DAY, 'hour'],
      [90 * DAY + 60, HOUR, 'day'],
    ];
    for (const [age, length, grain] of grains)
      assert.equal(keptGrainOf({ from: NOW - age, to: NOW - age + length }, NOW_MS), grain, `${age} ${length}`);
  });

  test('what is compared is the time just before, or that of a week before', () => {
    const span = { from: 5 * DAY, to: 6 * DAY };
    assert.equal(shiftOf(span, ''), undefined);
    assert.equal(shiftOf(span, 'before'), DAY);
    assert.equal(shiftOf(span, 'week'), 7 * DAY);
  });

  test('a zoom has whole steps, at least one', () => {
    assert.deepEqual(zoomedSpan({ from: HOUR + 1, to: HOUR + 2 }, 'hour'), { from: HOUR, to: 2 * HOUR });
    assert.deepEqual(zoomedSpan({ from: HOUR, to: HOUR }, 'minute'), { from: HOUR, to: HOUR + 60 });
    assert.deepEqual(zoomedSpan({ from: 90 * 60, to: 150 * 60 }, 'hour'), { from: HOUR, to: 3 * HOUR });
  });
});
