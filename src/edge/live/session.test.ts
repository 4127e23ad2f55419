import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessRecord } from '#logs/line.ts';
import { lineSince, openLedger } from './session.ts';

test('lines of a lasting answer have the bytes since the line before, never fewer than none', () => {
  const ledger = openLedger(0);
  // `as`: the other fields are passed through.
  const whole = (endedAt: number, responseBytes: number) =>
    ({ endedAt, requestBytes: 100, responseBytes, status: 200 }) as AccessRecord;
  const line = (at: number, bytes: number) => {
    const { durationMs, requestBytes, responseBytes, isContinued } = lineSince(ledger, whole(at, bytes), 200);
    return [durationMs, requestBytes, responseBytes, isContinued];
  };
  assert.deepEqual(line(60_000, 5_000_000), [60_000, 100, 5_000_000, false]);
  assert.deepEqual(line(120_000, 9_000_000), [60_000, 0, 4_000_000, true]);
  // It was cut, and of what had been counted 2 MB were never taken.
  assert.deepEqual(line(130_000, 7_000_000), [10_000, 0, 0, true]);
});
