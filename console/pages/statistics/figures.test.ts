import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { figuresOf } from './figures.ts';

const SPAN = { from: 3600, to: 3 * 3600 };
const ZEROS = { status_2xx: 0, status_3xx: 0, status_4xx: 0, status_5xx: 0, requests: 0, hits: 0 };

describe('figures of statistics', () => {
  test('requests are one series a class, zeros where the service has none', () => {
    const data = {
      total: { ...ZEROS, requests: 5, status_2xx: 3, status_5xx: 2 },
      list: [{ ...ZEROS, time: 7200, requests: 5, status_2xx: 3, status_5xx: 2 }],
    };
    const { times, figures, totals } = figuresOf({ metric: 'requests', grain: 'hour', span: SPAN, data });
    assert.deepEqual(times, [3600, 7200]);
    assert.deepEqual(
      figures.map(({ name, values }) => [name, values]),
      [
        ['5xx', [0, 2]],
        ['4xx', [0, 0]],
        ['3xx', [0, 0]],
        ['2xx', [0, 3]],
      ],
    );
    assert.deepEqual(totals, [2, 0, 0, 3]);
  });

  test('a time without requests has no hit ratio', () => {
    const data = { total: { requests: 4, hits: 1 }, list: [{ time: 3600, requests: 4, hits: 1 }] };
    const { figures, totals } = figuresOf({ metric: 'hit_ratio', grain: 'hour', span: SPAN, data });
    assert.deepEqual(figures[0]?.values, [0.25, null]);
    assert.deepEqual(totals, [0.25]);
  });

  test('bandwidth is the mean of each step, in bits, and the total that of the span', () => {
    const sums = { bytes_out: 450_000, bytes_origin: 45_000 };
    const data = { total: sums, list: [{ time: 3600, ...sums }] };
    const { figures, totals } = figuresOf({ metric: 'bandwidth', grain: 'hour', span: SPAN, data });
    assert.deepEqual(
      figures.map(({ values }) => values),
      [
        [1000, 0],
        [100, 0],
      ],
    );
    assert.deepEqual(totals, [500, 50]);
  });

  test('what is compared stands at the times of the span', () => {
    const data = { total: { bytes_out: 9, hit_bytes: 4 }, list: [{ time: 3600, bytes_out: 9, hit_bytes: 4 }] };
    const earlier = { total: { bytes_out: 7 }, list: [{ time: 0, bytes_out: 7 }] };
    const compared = { data: earlier, shift: 7200 };
    const { figures, totals } = figuresOf({ metric: 'traffic', grain: 'hour', span: SPAN, data, compared });
    assert.deepEqual(
      figures.map(({ name, isCompared, values }) => [name, isCompared, values]),
      [
        ['fromOrigins', false, [5, 0]],
        ['fromCache', false, [4, 0]],
        ['total', true, [0, 7]],
      ],
    );
    assert.deepEqual(totals, [5, 4, 7]);
  });
});
