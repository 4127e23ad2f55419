import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLocalTime, firstSecondOf, instantOf, lastSecondOf } from './local-time.ts';

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

test('a local time is the instant at which the clock of the zone shows it', () => {
  const rows: [string, string, string][] = [
    ['Asia/Shanghai', '2025-01-31 23:59:59', '2025-01-31T15:59:59Z'],
    ['UTC', '1969-12-31 23:59:59', '1969-12-31T23:59:59Z'],
    ['Asia/Kathmandu', '2025-02-01 00:00:01', '2025-01-31T18:15:01Z'],
    ['Europe/Berlin', '2025-10-26 02:30:07', '2025-10-26T00:30:07Z'], // exists twice
    ['Europe/Berlin', '2025-03-30 03:00:00', '2025-03-30T01:00:00Z'],
  ];
  for (const [zone, text, expected] of rows) assert.equal(instantOf(text, zone), Date.parse(expected), text);
  for (const text of ['', '2025-02-32 00:00:00', '2025-01-31', '2025-01-31T00:00:00Z'])
    assert.equal(instantOf(text, 'UTC'), undefined, text);
});

test('one formatter follows the zone through its changes, forwards and back', () => {
  const berlin = createLocalTime('Europe/Berlin');
  const [before, after] = [Date.parse('2025-03-30T00:59:59Z'), Date.parse('2025-03-30T01:00:00Z')];
  for (const at of [before, after, before, after]) {
    assert.equal(berlin.format(at).slice(-6), at === before ? '+01:00' : '+02:00');
  }
});

/** Zones, and days on which their clocks change: by an hour and by half an hour, within a day and at its ends. */
const CHANGES = [
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/St_Johns', '2026-11-01'], // half an hour from UTC's hours
  ['Australia/Lord_Howe', '2026-04-05'], // by half an hour
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Pacific/Chatham', '2026-04-05'], // three quarters from UTC's hours
  ['America/Santiago', '2026-04-05'], // midnight is 23:00 again
  ['America/Santiago', '2026-09-06'], // midnight is 01:00
  ['Africa/Cairo', '2026-10-30'], // midnight is 23:00 again
  ['Atlantic/Azores', '2026-10-25'], // the day has two midnights
] as const;
const STEP_MS = 5 * 60_000;

test('an hour begins when the clock reaches a full hour or is changed, and differs from one of the same name', () => {
  for (const [zone, day] of CHANGES) {
    const local = createLocalTime(zone);
    const from = Date.parse(`${day}T00:00:00Z`) - 15 * 3_600_000;
    const starts = new Map<number, string>();
    for (let at = from; at < from + 60 * 3_600_000; at += STEP_MS) {
      const start = local.hourStartOf(at);
      assert.ok(start <= at && at < start + 3_600_000, `${zone} ${local.format(at)}`);
      const shown = local.format(at).slice(0, 13) + local.format(at).slice(-6);
      assert.equal(starts.get(start) ?? shown, shown, `${zone} ${local.format(at)}`);
      starts.set(start, shown);
      const isBegun = local.hourStartOf(at - STEP_MS) !== start;
      const isChanged = local.format(at - STEP_MS).slice(-6) !== local.format(at).slice(-6);
      assert.equal(isBegun, isChanged || local.format(at).slice(14, 16) === '00', `${zone} ${local.format(at)}`);
    }
  }
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

test('a day is all the time while the clock shows its date', () => {
  for (const [zone, changed] of CHANGES) {
    const local = createLocalTime(zone);
    const middle = Date.parse(`${changed}T00:00:00Z`);
    const spans = new Map<string, number[]>();
    for (let at = middle - 72 * 3_600_000; at < middle + 72 * 3_600_000; at += STEP_MS) {
      const day = local.format(at).slice(0, 10);
      spans.set(day, [spans.get(day)?.[0] ?? at, at]);
    }
    for (const [day, ends] of [...spans].slice(1, -1)) {
      const [first = Number.NaN, last = Number.NaN] = ends;
      assert.equal(firstSecondOf(day, zone), first / 1000, `${zone} ${day}`);
      assert.equal(lastSecondOf(day, zone), (last + STEP_MS) / 1000 - 1, `${zone} ${day}`);
    }
  }
});
