import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLocalTime, firstSecondOf, lastSecondOf } from './local-time.ts';

test('an instant is written in the zone, with its offset', () => {
  const rows: [string, string, string][] = [
    ['Asia/Shanghai', '2025-01-31T15:59:59.123Z', '2025-01-31T23:59:59.123+08:00'],
    ['UTC', '2025-01-31T15:59:59.123Z', '2025-01-31T15:59:59.123+00:00'],
    ['America/St_Johns', '2025-01-31T15:59:59.000Z', '2025-01-31T12:29:59.000-03:30'],
    ['Asia/Kathmandu', '2025-01-31T18:15:00.000Z', '2025-02-01T00:00:00.000+05:45'],
    // Summer time begins, at 01:00 UTC; half an hour of it, at 15:30 UTC
    ['Europe/Berlin', '2025-03-30T00:59:59.999Z', '2025-03-30T01:59:59.999+01:00'],
    ['Europe/Berlin', '2025-03-30T01:00:00.000Z', '2025-03-30T03:00:00.000+02:00'],
    ['Australia/Lord_Howe', '2025-10-04T15:29:59.999Z', '2025-10-05T01:59:59.999+10:30'],
    ['Australia/Lord_Howe', '2025-10-04T15:30:00.000Z', '2025-10-05T02:30:00.000+11:00'],
    ['Asia/Shanghai', '1969-12-31T16:00:00.000Z', '1970-01-01T00:00:00.000+08:00'],
  ];
  for (const [zone, instant, expected] of rows)
    assert.equal(createLocalTime(zone).format(Date.parse(instant)), expected);
});

test('one formatter follows the zone through its changes, forwards and back', () => {
  const berlin = createLocalTime('Europe/Berlin');
  const [before, after] = [Date.parse('2025-03-30T00:59:59Z'), Date.parse('2025-03-30T01:00:00Z')];
  for (const at of [before, after, before, after]) {
    assert.equal(berlin.format(at).slice(-6), at === before ? '+01:00' : '+02:00');
  }
});

test('the hour changes with the zone\u2019s clock', () => {
  const kathmandu = createLocalTime('Asia/Kathmandu');
  const midnight = Date.parse('2025-01-31T18:15:00Z');
  assert.equal(kathmandu.hourOf(midnight), kathmandu.hourOf(midnight - 1) + 1);
  assert.equal(kathmandu.hourOf(midnight), kathmandu.hourOf(midnight + 3_599_999));
});

test('an unknown zone is refused', () => {
  assert.throws(() => createLocalTime('Middle/Earth'), RangeError);
});

test('a day ends with its last second in its zone, also where the clocks change', () => {
  const rows: [string, string, string | undefined][] = [
    ['2027-01-31', 'UTC', '2027-01-31T23:59:59.000Z'],
    ['2027-01-31', 'Asia/Shanghai', '2027-01-31T15:59:59.000Z'],
    ['2027-03-28', 'Europe/Berlin', '2027-03-28T21:59:59.000Z'],
    ['2027-03-27', 'Europe/Berlin', '2027-03-27T22:59:59.000Z'],
    ['2027-11-07', 'America/St_Johns', '2027-11-08T03:29:59.000Z'],
    ['2027-02-29', 'UTC', undefined],
    ['2027-13-01', 'UTC', undefined],
    ['tomorrow', 'UTC', undefined],
  ];
  for (const [date, zone, expected] of rows) {
    const last = lastSecondOf(date, zone);
    assert.equal(last === undefined ? undefined : new Date(last * 1000).toISOString(), expected, `${date} ${zone}`);
  }
});

test('the first second of a day follows the last of the day before', () => {
  for (const zone of ['Asia/Shanghai', 'UTC', 'Europe/Berlin', 'America/St_Johns'])
    for (const [before, date] of [
      ['2025-03-29', '2025-03-30'],
      ['2025-03-30', '2025-03-31'],
      ['2025-10-26', '2025-10-27'],
      ['2024-02-29', '2024-03-01'],
    ] as const)
      assert.equal(firstSecondOf(date, zone), (lastSecondOf(before, zone) ?? 0) + 1, `${date} ${zone}`);
  assert.equal(firstSecondOf('2025-02-29', 'UTC'), undefined);
});
