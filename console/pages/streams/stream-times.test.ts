import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration, keptSince } from './stream-times.ts';

test('a duration has hours when it needs them', () => {
  assert.deepEqual([0, 59_600, 3_599_400, 3_723_000].map(formatDuration), ['00:00', '01:00', '59:59', '1:02:03']);
});

test('what is asked for is the same for a day', () => {
  const noon = Date.UTC(2026, 0, 31, 12);
  assert.equal(keptSince(90, noon), keptSince(90, noon + 3_600_000));
  assert.equal(keptSince(30, noon), Date.UTC(2026, 0, 1) / 1000);
});
