import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLocalTime } from '#lib/local-time.ts';
import { releaseAt } from './quiet-hours.ts';

const DAY = { from: 8 * 60, to: 22 * 60 };
const NIGHT = { from: 22 * 60, to: 6 * 60 };

/** Hours, zone, moment, and when it may go out. */
const ROWS: readonly [string, typeof DAY, string, string, string][] = [
  ['inside the hours: at once', DAY, 'Asia/Shanghai', '2026-01-31T12:00:00.123+08:00', '2026-01-31T12:00:00.123+08:00'],
  ['the first moment is inside', DAY, 'Asia/Shanghai', '2026-01-31T08:00:00+08:00', '2026-01-31T08:00:00+08:00'],
  ['the last moment', DAY, 'Asia/Shanghai', '2026-01-31T21:59:59.999+08:00', '2026-01-31T21:59:59.999+08:00'],
  ['after it: the next morning', DAY, 'Asia/Shanghai', '2026-01-31T22:00:00+08:00', '2026-02-01T08:00:00+08:00'],
  ['before it: this morning', DAY, 'Asia/Shanghai', '2026-01-31T07:59:59.999+08:00', '2026-01-31T08:00:00+08:00'],
  ['past midnight, inside', NIGHT, 'Asia/Shanghai', '2026-01-31T05:59:00+08:00', '2026-01-31T05:59:00+08:00'],
  ['past midnight, outside', NIGHT, 'Asia/Shanghai', '2026-01-31T06:00:00+08:00', '2026-01-31T22:00:00+08:00'],
  [
    'a night in which the clock is put forward',
    DAY,
    'Europe/Berlin',
    '2026-03-28T23:00:00+01:00',
    '2026-03-29T08:00:00+02:00',
  ],
  ['a night in which it is put back', DAY, 'Europe/Berlin', '2026-10-24T23:00:00+02:00', '2026-10-25T08:00:00+01:00'],
  [
    'hours that begin where the clock leaves out an hour',
    { from: 2 * 60 + 30, to: 5 * 60 },
    'Europe/Berlin',
    '2026-03-29T01:00:00+01:00',
    '2026-03-29T03:00:00+02:00',
  ],
];

for (const [name, hours, zone, at, expected] of ROWS)
  test(`advertising waits for its hours: ${name}`, () => {
    assert.equal(
      new Date(releaseAt(Date.parse(at), hours, createLocalTime(zone))).toISOString(),
      new Date(expected).toISOString(),
    );
  });

test('advertising is never early, never more than a day and an hour late, and always inside the hours', () => {
  const minute = fc.integer({ min: 0, max: 1439 });
  const local = createLocalTime('Europe/Berlin');
  fc.assert(
    fc.property(fc.tuple(minute, minute), fc.integer({ min: 1_770_000_000_000, max: 1_810_000_000_000 }), (of, now) => {
      const [from, to] = of;
      fc.pre(Math.abs(from - to) > 60);
      const at = releaseAt(now, { from, to }, local);
      assert.ok(at >= now && at - now <= 25 * 3_600_000);
      const [, h = '', m = ''] = /T(\d\d):(\d\d)/.exec(local.format(at)) ?? [];
      const clock = Number(h) * 60 + Number(m);
      assert.ok(from < to ? from <= clock && clock < to : clock >= from || clock < to);
    }),
  );
});

test('advertising around a clock change is sent at the first moment inside the hours', () => {
  const quarterMs = 15 * 60_000;
  for (const [zone, day] of [
    ['Europe/Berlin', '2026-03-29'],
    ['Europe/Berlin', '2026-10-25'],
    ['Australia/Lord_Howe', '2026-04-05'],
    ['Australia/Lord_Howe', '2026-10-04'],
    ['Pacific/Chatham', '2026-09-27'],
    ['America/Santiago', '2026-04-05'],
    ['America/Santiago', '2026-09-06'],
  ] as const) {
    const local = createLocalTime(zone);
    const begin = Date.parse(`${day}T00:00:00Z`) - 20 * 3_600_000;
    const shown = Array.from({ length: 72 * 4 }, (_, n) => {
      const [, h, m] = /T(\d\d):(\d\d)/.exec(local.format(begin + n * quarterMs)) ?? [];
      return Number(h) * 60 + Number(m);
    });
    for (let from = 0; from < 1440; from += 105)
      for (const length of [15, 60, 600]) {
        const to = (from + length) % 1440;
        const isOpen = (minute: number) => (from < to ? from <= minute && minute < to : minute >= from || minute < to);
        for (let n = 0; n < 36 * 4; n += 7) {
          const now = begin + n * quarterMs;
          const expected = begin + shown.findIndex((minute, i) => i >= n && isOpen(minute)) * quarterMs;
          const said = `${zone} ${local.format(now)}, from ${from} to ${to}`;
          assert.equal(releaseAt(now, { from, to }, local), expected, said);
        }
      }
  }
});
