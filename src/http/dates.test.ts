import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { formatDate, parseDate } from './dates.ts';

const NOW = Date.UTC(2026, 0, 1);
const EXAMPLE = Date.UTC(1994, 10, 6, 8, 49, 37);

describe('dates', () => {
  test('the three formats of RFC 9110 are read, letters in any case, all else exactly', () => {
    const rows: [string | undefined, number | undefined][] = [
      ['Sun, 06 Nov 1994 08:49:37 GMT', EXAMPLE],
      ['Sunday, 06-Nov-94 08:49:37 GMT', EXAMPLE],
      ['Sun Nov  6 08:49:37 1994', EXAMPLE],
      ['Sun Nov 06 08:49:37 1994', EXAMPLE],
      ['sun, 06 nOV 1994 08:49:37 gmt', EXAMPLE],
      ['Sun, 06 Nov 1994 08:49:60 GMT', EXAMPLE + 23_000],
      ['Thu, 29 Feb 2024 00:00:00 GMT', Date.UTC(2024, 1, 29)],
      ['Sat, 01 Jan 0000 00:00:00 GMT', Date.parse('0000-01-01T00:00:00Z')],
      ['Fri, 31 Dec 9999 23:59:59 GMT', Date.UTC(9999, 11, 31, 23, 59, 59)],
      ['Wed, 29 Feb 2023 00:00:00 GMT', undefined],
      ['Sun, 31 Nov 1994 08:49:37 GMT', undefined],
      ['Sun, 00 Nov 1994 08:49:37 GMT', undefined],
      ['Sun, 06 Nov 1994 08:49:37 UTC', undefined],
      ['Sun, 06 Nov 1994 08:49:37 AEST', undefined],
      ['Sun, 06 Nov 1994 08:49:37', undefined],
      ['Sun, 06 Nov 94 08:49:37 GMT', undefined],
      ['Sun, 06-Nov-1994 08:49:37 GMT', undefined],
      ['Sun,  06 Nov 1994 08:49:37 GMT', undefined],
      ['Sun, 06 Nov 1994  08:49:37 GMT', undefined],
      ['Sun, 06 Nov 1994 8:49:37 GMT', undefined],
      ['Sun, 6 Nov 1994 08:49:37 GMT', undefined],
      ['Sun, 06 Nov 1994 24:00:00 GMT', undefined],
      ['Sun, 06 Nov 1994 08:60:37 GMT', undefined],
      ['Thu, 29 Feb 1900 00:00:00 GMT', undefined],
      ['Tue, 29 Feb 2000 00:00:00 GMT', Date.UTC(2000, 1, 29)],
      ['Sun, 06 Nov 1994 08:49:3: GMT', undefined],
      ['Sun, 06 Nov 1994 08.49:37 GMT', undefined],
      ['Sun, -6 Nov 1994 08:49:37 GMT', undefined],
      ['Sun, 06 Nov +994 08:49:37 GMT', undefined],
      ['\u0173un, 06 Nov 1994 08:49:37 GMT', undefined],
      ['Sun, 06 \u4e6fv 1994 08:49:37 GMTx', undefined],
      ['Sun, 06 Nov 1994 08:49:61 GMT', undefined],
      ['Son, 06 Nov 1994 08:49:37 GMT', undefined],
      ['Sun, 06 Nox 1994 08:49:37 GMT', undefined],
      [' Sun, 06 Nov 1994 08:49:37 GMT', undefined],
      ['Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT', undefined],
      ['1994-11-06T08:49:37Z', undefined],
      ['784111777', undefined],
      ['0', undefined],
      ['', undefined],
      [undefined, undefined],
    ];
    for (const [text, expected] of rows) assert.equal(parseDate(text, NOW), expected, String(text));
  });

  test('a two-digit year more than 50 years ahead is in the past', () => {
    const year = (text: string) => new Date(parseDate(text, NOW) ?? 0).getUTCFullYear();
    assert.equal(year('Sunday, 06-Nov-76 08:49:37 GMT'), 2076);
    assert.equal(year('Sunday, 06-Nov-77 08:49:37 GMT'), 1977);
    assert.equal(year('Sunday, 06-Nov-26 08:49:37 GMT'), 2026);
  });

  test('law: a written date is read back, to the second', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }), (instant) => {
        assert.equal(parseDate(formatDate(instant), NOW), Math.floor(instant / 1000) * 1000);
      }),
    );
  });

  test('law: no text makes the date parser throw', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseDate(text, NOW)));
  });

  test('law: a date in which any one character is another one is the same date or none', () => {
    const text = 'Sun, 06 Nov 1994 08:49:37 GMT';
    const pattern = /^(?:mon|tue|wed|thu|fri|sat|sun), \d\d [a-z]{3} \d{4} \d\d:\d\d:\d\d gmt$/i;
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.nat(0x17f), (at, code) => {
        const changed = text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1);
        const expected = pattern.test(changed) ? new Date(changed).getTime() : Number.NaN;
        const read = parseDate(changed, NOW);
        // `Date` reads a leap second, and a day beyond the month's end, differently.
        if (read !== undefined && !Number.isNaN(expected)) assert.equal(read, expected, changed);
        if (Number.isNaN(expected)) assert.equal(read, undefined, changed);
      }),
      { numRuns: 2_000 },
    );
  });
});
