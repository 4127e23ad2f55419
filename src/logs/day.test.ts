import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDays } from './day.ts';

test('earlier days are counted on the calendar, also over a day of 23 or 25 hours', () => {
  const rows: [string, string, number, string][] = [
    ['Asia/Shanghai', '2026-03-01T15:59:59Z', 1, '2026-02-28'],
    ['Asia/Shanghai', '2026-03-01T16:00:00Z', 1, '2026-03-01'],
    ['Europe/Berlin', '2026-10-25T22:30:00Z', 1, '2026-10-24'], // 24 hours before it was that day already
    ['Europe/Berlin', '2026-03-29T22:30:00Z', 1, '2026-03-29'], // and here it was the day before that
    ['Europe/Berlin', '2026-11-24T22:30:00Z', 30, '2026-10-25'],
    ['Asia/Kathmandu', '2026-01-01T18:15:00Z', 2, '2025-12-31'],
    ['UTC', '2024-03-01T00:00:00Z', 0, '2024-03-01'],
  ];
  for (const [zone, at, days, expected] of rows)
    assert.equal(createDays(zone).dayBefore(Date.parse(at), days), expected, `${zone} ${at}`);
});

test('a day begins when the one before ends, even if its midnight occurs twice or never', () => {
  const rows: [string, string, string][] = [
    ['America/Santiago', '2026-04-05', '2026-04-05T04:00:00Z'], // 24:00 was 23:00 again
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00Z'], // 00:00 was 01:00
    ['Atlantic/Azores', '2026-10-25', '2026-10-25T00:00:00Z'], // 01:00 was 00:00 again
    ['Asia/Kathmandu', '2026-01-01', '2025-12-31T18:15:00Z'],
  ];
  for (const [zone, day, expected] of rows)
    assert.equal(createDays(zone).startOf(day), Date.parse(expected), `${zone} ${day}`);
});
