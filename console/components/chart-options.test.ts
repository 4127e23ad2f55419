import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countSteps, timeAxis } from './chart-options.ts';

const DAY_SECONDS = 86_400;
const ZONE = 'Asia/Shanghai';
/** Midnight in the zone. */
const FROM = Date.UTC(2026, 0, 30, 16) / 1000;

test('labels say the time of a short range, and the day too of one that has several', () => {
  const labelsOf = (seconds: number, ...later: number[]) => {
    const at = later.map((one) => FROM + one);
    return timeAxis(ZONE, [FROM, FROM + seconds]).values(undefined, at);
  };
  assert.deepEqual(labelsOf(300, 0, 30), ['00:00:00', '00:00:30']);
  assert.deepEqual(labelsOf(DAY_SECONDS, 3600), ['01:00']);
  assert.deepEqual(labelsOf(2 * DAY_SECONDS, DAY_SECONDS + 3600), ['02-01 01:00']);
  assert.deepEqual(labelsOf(7 * DAY_SECONDS, 0, DAY_SECONDS), ['01-31', '02-01']);
});

test('no day is named twice', () => {
  const { values, incrs = [] } = timeAxis(ZONE, [FROM, FROM + 30 * DAY_SECONDS]);
  assert.ok(incrs.length > 0);
  for (const distance of incrs) {
    const labels = values(undefined, [FROM, FROM + distance]);
    assert.notEqual(labels[0], labels[1], String(distance));
  }
});

test('no value is named twice either: viewers have no parts, ratios have', () => {
  assert.deepEqual(countSteps((value) => value.toFixed(0)).slice(0, 3), [1, 2, 5]);
  assert.deepEqual(countSteps((value) => `${(value * 100).toFixed(0)}%`).slice(0, 2), [0.01, 0.02]);
});
