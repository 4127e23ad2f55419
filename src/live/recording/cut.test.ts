import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPieceLong, whyAnother } from './cut.ts';

const HOUR_MS = 3_600_000;

test('a piece ends by its time or its size', () => {
  const rows = [
    [0, 0, false],
    [9_999, 1_000, false],
    [10_000, 1_000, true],
    [2_000, 16 * 1024 * 1024 - 1, false],
    [2_000, 16 * 1024 * 1024, true],
  ] as const;
  for (const [durationMs, bytes, isLong] of rows) assert.equal(isPieceLong({ durationMs, bytes }), isLong);
});

test('another recording begins when the formats change, and after six hours', () => {
  const recording = { init: Buffer.from('one'), baseMs: 5_000 };
  const rows = [
    ['one', 7_000, undefined],
    ['two', 7_000, 'changed'],
    ['one', 5_000 + 6 * HOUR_MS - 1, undefined],
    ['one', 5_000 + 6 * HOUR_MS, 'long'],
    ['two', 5_000 + 6 * HOUR_MS, 'changed'],
  ] as const;
  for (const [init, startMs, why] of rows)
    assert.equal(whyAnother(recording, { init: Buffer.from(init), startMs }), why, `${init} ${startMs}`);
});
