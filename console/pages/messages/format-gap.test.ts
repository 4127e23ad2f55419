import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatGap } from './format-gap.ts';

test('gaps are in their largest unit, small ones with a decimal', () => {
  assert.deepEqual(
    [0, 12, 1_500, 42_400, 90_000, 7_200_000, 90_000_000].map((ms) => formatGap(ms, 'en')),
    ['0 ms', '12 ms', '1.5 sec', '42 sec', '1.5 min', '2 hr', '1 day'],
  );
});
