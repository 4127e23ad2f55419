import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chartData, stepAt } from './chart-data.ts';

describe('data of a chart', () => {
  test('the last step is as wide as the others', () => {
    assert.deepEqual(chartData([60, 120], [{ values: [1, 2] }], false), [
      [60, 120, 180],
      [1, 2, 2],
    ]);
  });

  test('stacked series are the sums of themselves and of those after them', () => {
    const series = [{ values: [1, 2] }, { values: [10, 20] }, { values: [100, 200] }];
    assert.deepEqual(chartData([0, 60], series, true), [
      [0, 60, 120],
      [111, 222, 222],
      [110, 220, 220],
      [100, 200, 200],
    ]);
  });

  test('what is compared stands beside the stack', () => {
    const series = [{ values: [1] }, { values: [2] }, { values: [9], isDashed: true }];
    assert.deepEqual(chartData([0], series, true), [
      [0, 60],
      [3, 3],
      [2, 2],
      [9, 9],
    ]);
  });

  test('what is unknown is a gap, and no zero in a sum', () => {
    const series = [{ values: [1, null] }, { values: [null, null] }];
    assert.deepEqual(chartData([0, 60], series, true), [
      [0, 60, 120],
      [1, null, null],
      [null, null, null],
    ]);
  });

  test('no values draw nothing, and one draws a minute', () => {
    assert.deepEqual(chartData([], [{ values: [] }], false), [[], []]);
    assert.deepEqual(chartData([60], [{ values: [1] }], false), [
      [60, 120],
      [1, 1],
    ]);
  });

  test('the added end belongs to the last step', () => {
    assert.deepEqual(
      [0, 1, 2].map((index) => stepAt(index, 2)),
      [0, 1, 1],
    );
  });
});
