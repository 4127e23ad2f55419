import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FULL_PACE, nextPace, type ReportPace } from './report-pace.ts';

const MINUTE_MS = 60_000;

test('edges report half as often each time reports wait for long, and twice as often after ten quiet minutes', () => {
  const rows: readonly (readonly [minute: number, waitedMs: number, factor: number])[] = [
    [0, 10_000, 1],
    [0, 10_001, 2],
    [1, 60_000, 2], // what was changed does not show yet
    [3, 10_001, 4],
    [9, 10_001, 4], // it stays at that
    [10, 100, 4],
    [18, 10_001, 4],
    [27, 100, 4],
    [28, 100, 2],
    [37, 100, 2],
    [38, 100, 1],
    [60, 100, 1],
    [61, 20_000, 2],
  ];
  let pace: ReportPace = FULL_PACE;
  for (const [minute, waitedMs, factor] of rows) {
    pace = nextPace(pace, waitedMs, minute * MINUTE_MS);
    assert.equal(pace.factor, factor, `minute ${minute}`);
  }
});
