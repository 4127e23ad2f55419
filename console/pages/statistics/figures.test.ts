import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { figuresOf } from './figures.ts';

const HOUR_MS = 3_600_000;
const SPAN = { seconds: 7200, isSplit: false };

type Asked = Parameters<typeof figuresOf>[0];
type Series = Asked['data']['series'][number];

const sum = (metric: Series['metric'], values: number[], before?: number[], domain = ''): Series => ({
  domain_id: domain === '' ? '' : domain.slice(0, 1),
  domain_name: domain,
  metric,
  values,
  ...(before !== undefined && { before }),
});

function answer(...series: Series[]): Asked['data'] {
  return {
    interval: 'hour',
    from: HOUR_MS,
    to: 3 * HOUR_MS,
    complete_until: 3 * HOUR_MS,
    times: [HOUR_MS, 2 * HOUR_MS],
    series,
  };
}

describe('figures of statistics', () => {
  test('requests are one figure a class', () => {
    const data = answer(
      sum('requests', [0, 5]),
      sum('status_2xx', [0, 3]),
      sum('status_3xx', [0, 0]),
      sum('status_4xx', [0, 0]),
      sum('status_5xx', [0, 2]),
    );
    const { times, figures = [] } = figuresOf({ ...SPAN, metric: 'requests', data }) ?? {};
    assert.deepEqual(times, [3600, 7200]);
    assert.deepEqual(
      figures.map(({ name, values, total }) => [name, values, total]),
      [
        ['5xx', [0, 2], 2],
        ['4xx', [0, 0], 0],
        ['3xx', [0, 0], 0],
        ['2xx', [0, 3], 3],
      ],
    );
  });

  test('a time without requests has no hit ratio, and the ratio of all is not the mean of those of the times', () => {
    const data = answer(sum('requests', [4, 0]), sum('hits', [1, 0]));
    const { figures = [] } = figuresOf({ ...SPAN, metric: 'hit_ratio', data }) ?? {};
    assert.deepEqual(figures[0]?.values, [0.25, null]);
    const busy = answer(sum('requests', [1, 99]), sum('hits', [1, 0]));
    assert.equal(figuresOf({ ...SPAN, metric: 'hit_ratio', data: busy })?.figures[0]?.total, 0.01);
  });

  test('bandwidth is the mean of each step, in bits, and the total that of the span', () => {
    const data = answer(sum('bytes_out', [450_000, 0]), sum('bytes_origin', [45_000, 0]));
    const { figures = [] } = figuresOf({ ...SPAN, metric: 'bandwidth', data }) ?? {};
    assert.deepEqual(
      figures.map(({ values, total }) => [values, total]),
      [
        [[1000, 0], 500],
        [[100, 0], 50],
      ],
    );
  });

  test('what is compared stands last, as one figure', () => {
    const data = answer(sum('bytes_out', [9, 0], [0, 7]), sum('hit_bytes', [4, 0], [0, 1]));
    const { figures = [] } = figuresOf({ ...SPAN, metric: 'traffic', data }) ?? {};
    assert.deepEqual(
      figures.map(({ name, isCompared, values, total }) => [name, isCompared, values, total]),
      [
        ['fromOrigins', false, [5, 0], 5],
        ['fromCache', false, [4, 0], 4],
        ['total', true, [0, 7], 7],
      ],
    );
  });

  test('each domain is a figure with a look of its own, and its earlier time has the same', () => {
    const names = Array.from({ length: 10 }, (_, n) => `${n}.example`);
    const data = answer(...names.map((name, n) => sum('requests', [n, 1], [0, n], name)));
    const { figures = [] } = figuresOf({ ...SPAN, isSplit: true, metric: 'requests', data }) ?? {};
    assert.equal(figures.length, 20);
    const looks = figures.slice(0, 10).map(({ color, isDotted }) => `${color} ${isDotted}`);
    assert.equal(new Set(looks).size, 10);
    const third = figures.filter(({ name }) => Object(name).domain === '2.example');
    assert.deepEqual(
      third.map(({ isCompared, values, total, color }) => [isCompared, values, total, color]),
      [
        [false, [2, 1], 3, 'bad'],
        [true, [0, 2], 2, 'bad'],
      ],
    );
  });

  test('an answer to another question is not taken for this one', () => {
    const all = answer(sum('requests', [1, 1]), sum('hits', [1, 1]));
    assert.equal(figuresOf({ ...SPAN, metric: 'traffic', data: all }), undefined);
    assert.equal(figuresOf({ ...SPAN, isSplit: true, metric: 'requests', data: all }), undefined);
    const split = answer(sum('requests', [1, 1], undefined, 'a'), sum('hits', [1, 1], undefined, 'a'));
    assert.equal(figuresOf({ ...SPAN, metric: 'hit_ratio', data: split }), undefined);
  });
});
