import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Registry } from 'prom-client';
import { BucketCounts, DURATION_BOUNDS_SECONDS } from './bucket-counts.ts';
import { metricsOf } from './metrics.ts';

describe('bucket counts', () => {
  test('a duration is counted in the first bucket whose bound it does not exceed', () => {
    const rows: readonly (readonly [durationMs: number, index: number])[] = [
      [0, 0],
      [1, 0],
      [1.01, 1],
      [30_000, DURATION_BOUNDS_SECONDS.length - 1],
      [30_001, DURATION_BOUNDS_SECONDS.length],
      [Number.MAX_SAFE_INTEGER, DURATION_BOUNDS_SECONDS.length],
    ];
    for (const [durationMs, index] of rows) {
      const buckets = new BucketCounts();
      buckets.count(durationMs);
      assert.equal(buckets.counts.indexOf(1), index, `${durationMs} ms`);
      assert.equal(buckets.sumSeconds, durationMs / 1000);
    }
  });

  test('a histogram of them has cumulative buckets, a sum and a count, by label', async () => {
    const registry = new Registry();
    const [hits, misses] = [new BucketCounts(), new BucketCounts()];
    for (const durationMs of [0, 2, 40_000]) misses.count(durationMs);
    metricsOf(registry).histograms('causeway_try_seconds', 'Tried.', ['cache'], () => [
      [{ cache: 'HIT' }, hits],
      [{ cache: 'MISS' }, misses],
    ]);
    const text = await registry.metrics();
    for (const line of [
      '# TYPE causeway_try_seconds histogram',
      'causeway_try_seconds_bucket{le="0.001",cache="MISS"} 1',
      'causeway_try_seconds_bucket{le="0.005",cache="MISS"} 2',
      'causeway_try_seconds_bucket{le="30",cache="MISS"} 2',
      'causeway_try_seconds_bucket{le="+Inf",cache="MISS"} 3',
      'causeway_try_seconds_sum{cache="MISS"} 40.002',
      'causeway_try_seconds_count{cache="MISS"} 3',
      'causeway_try_seconds_count{cache="HIT"} 0',
    ])
      assert.ok(text.split('\n').includes(line), `${line} in\n${text}`);
  });
});
