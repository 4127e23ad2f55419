import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Directives, NO_DIRECTIVES } from './cache-control.ts';
import { governingDirectives, parseTargeted } from './targeted.ts';

describe('targeted fields', () => {
  test('targeted fields are Structured Field Dictionaries; a value of the wrong type makes its directive ignored', () => {
    const rows: [string | string[], Partial<Directives> | undefined][] = [
      [[], undefined],
      ['', undefined],
      ['   ', undefined],
      ['max-age=3600', { maxAge: 3600 }],
      [['max-age=3600', 'no-store'], { maxAge: 3600, noStore: true }],
      ['max-age=2147483649', { maxAge: 2147483648 }],
      ['max-age=99999999999', { maxAge: 2147483648 }],
      ['max-age=-1', { maxAge: 0 }],
      ['max-age="10000"', {}],
      ['max-age=3600.5', {}],
      // The parser has one number type, so a Decimal without a fraction equals an Integer.
      ['max-age=3600.0', { maxAge: 3600 }],
      ['max-age', {}],
      ['max-age=(1 2)', {}],
      ['max-age=1, max-age=2', { maxAge: 2 }],
      ['max-age=10;ext=1, foobar', { maxAge: 10 }],
      ['no-cache="X-A", private="X-B"', { noCacheFields: ['x-a'], privateFields: ['x-b'] }],
      ['no-store=?0', {}],
      ['no-store=1', {}],
      ['no-cache, private', { noCache: true, isPrivate: true }],
      ['MaX-aGe=3600', undefined],
      ['max-age =100', undefined],
      ['max-age= 100', undefined],
      ['max-age=10000, &&&&&', undefined],
      ['max-age=10,', undefined],
      ['max-age=9999999999999999', undefined],
    ];
    for (const [lines, expected] of rows) {
      const full = expected === undefined ? undefined : { ...NO_DIRECTIVES, ...expected };
      assert.deepEqual(parseTargeted([lines].flat()), full, JSON.stringify(lines));
    }
  });

  test('the most specific valid field governs, and Cache-Control only without one', () => {
    const rows: [string[], number | undefined, boolean][] = [
      [['Cache-Control', 'max-age=1'], 1, false],
      [['Cache-Control', 'max-age=1', 'CDN-Cache-Control', 'max-age=2'], 2, true],
      [['CDN-Cache-Control', 'max-age=2', 'Causeway-CDN-Cache-Control', 'max-age=3'], 3, true],
      [['CDN-Cache-Control', 'max-age=2', 'Causeway-CDN-Cache-Control', '&'], 2, true],
      [['CDN-Cache-Control', '', 'Cache-Control', 'max-age=1'], 1, false],
      [['CDN-Cache-Control', 'foo', 'Cache-Control', 'max-age=1'], undefined, true],
      [[], undefined, false],
    ];
    for (const [headers, maxAge, isTargeted] of rows) {
      const governing = governingDirectives(headers);
      assert.equal(governing.directives.maxAge, maxAge, headers.join('|'));
      assert.equal(governing.isTargeted, isTargeted, headers.join('|'));
    }
  });

  test('law: no text makes the reader of targeted fields throw', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseTargeted([text])));
  });
});
