import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffDelayMs } from './backoff.ts';

test('the delay doubles up to the cap, and jitter takes up to half of it', () => {
  const backoff = { firstMs: 100, capMs: 5000 };
  const rows: [number, number, number][] = [
    [1, 0, 50],
    [1, 0.5, 75],
    [2, 0, 100],
    [3, 0, 200],
    [7, 0, 2500],
    [1000, 0.5, 3750],
  ];
  for (const [failures, random, expected] of rows) assert.equal(backoffDelayMs(backoff, failures, random), expected);
});
