import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTimeFormat } from './time-format.ts';

test('instants are written in the zone, with leading zeros and 00 for midnight', () => {
  const rows: readonly [string, string, string][] = [
    ['Asia/Shanghai', '2026-01-31T16:00:00Z', '2026-02-01 00:00:00'],
    ['UTC', '2026-01-02T03:04:05.999Z', '2026-01-02 03:04:05'],
    ['America/New_York', '2026-07-01T04:30:00Z', '2026-07-01 00:30:00'],
    ['America/New_York', '2026-01-01T04:30:00Z', '2025-12-31 23:30:00'],
    ['Asia/Kathmandu', '1970-01-01T00:00:00Z', '1970-01-01 05:30:00'],
    ['UTC', '9999-12-31T23:59:59Z', '9999-12-31 23:59:59'],
  ];
  for (const [zone, at, expected] of rows) assert.equal(createTimeFormat(zone)(Date.parse(at)), expected, zone);
  assert.throws(() => createTimeFormat('Mars/Phobos'), RangeError);
});
