import assert from 'node:assert/strict';
import { test } from 'node:test';
import { droppedOf, isCountedWhole, monthOf, monthSamples, reportedMs, sampleRate } from './bandwidth.ts';
import { createDays } from './day.ts';

const FIVE = 300_000;
const DAY = 86_400_000;
const SHANGHAI = createDays('Asia/Shanghai');

test('a month has a sample for each five minutes of the time zone, also where clocks are changed', () => {
  const rows = [
    ['Asia/Shanghai', '2026-11', 8_640, 432, '2026-10-31T16:00:00.000Z'],
    ['Asia/Shanghai', '2026-12', 8_928, 446, '2026-11-30T16:00:00.000Z'],
    ['Asia/Shanghai', '2028-02', 8_352, 417, '2028-01-31T16:00:00.000Z'],
    ['Europe/Berlin', '2026-03', 8_916, 445, '2026-02-28T23:00:00.000Z'],
    ['Europe/Berlin', '2026-10', 8_940, 447, '2026-09-30T22:00:00.000Z'],
    ['Asia/Kathmandu', '2026-11', 8_640, 432, '2026-10-31T18:15:00.000Z'],
  ] as const;
  for (const [zone, month, samples, dropped, from] of rows) {
    const found = monthSamples(month, Number.MAX_SAFE_INTEGER, createDays(zone));
    assert.deepEqual([found.samples, droppedOf(found.samples)], [samples, dropped], `${zone} ${month}`);
    assert.equal(new Date(found.from).toISOString(), from);
    assert.equal(found.isComplete, true);
    // The sample that remains is the one at 95 percent of all, rounded up.
    assert.equal(samples - dropped, Math.ceil(samples * 0.95));
  }
});

test('a month that is not over has the samples that are', () => {
  const from = Date.parse('2026-11-30T16:00:00Z');
  const samplesAt = (at: number) => monthSamples('2026-12', at, SHANGHAI);
  assert.deepEqual([samplesAt(from - 60_000).samples, samplesAt(from + 299_999).samples], [0, 0]);
  assert.deepEqual([samplesAt(from + 300_000).samples, samplesAt(from + 300_000).isComplete], [1, false]);
  assert.equal(monthOf(from - 1, SHANGHAI), '2026-11');
  assert.equal(monthOf(from, SHANGHAI), '2026-12');
});

test('a sample is the mean of its five minutes in bits per second', () => {
  assert.deepEqual([sampleRate(0), sampleRate(300), sampleRate(37_500_000_000)], [0, 8, 1_000_000_000]);
});

test('a month is whole unless hours or days with traffic lie before its first sample', () => {
  const none = 31 * DAY;
  const rows = [
    ['no traffic', { five: none, hour: none, day: none }, true],
    ['counted from the first traffic on', { five: 3 * DAY + 7 * FIVE, hour: 3 * DAY, day: 3 * DAY }, true],
    ['at the end of a day of 25 hours, its hours forgotten', { five: DAY + FIVE, hour: none, day: 0 }, true],
    ['in none', { five: none, hour: none, day: 0 }, false],
    ['from the second day on', { five: DAY + 3_600_000, hour: none, day: 0 }, false],
    ['from the second hour on', { five: 3_600_000, hour: 0, day: 0 }, false],
  ] as const;
  for (const [what, first, isWhole] of rows) assert.equal(isCountedWhole(first), isWhole, what);
});

test('a sample is complete when edges that were asked to report less often have reported', () => {
  assert.deepEqual([1, 15, 30, 3600].map(reportedMs), [120_000, 120_000, 180_000, 14_460_000]);
});
