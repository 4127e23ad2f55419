import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Directives, NO_DIRECTIVES, parseCacheControl, parseDeltaSeconds, tokenize } from './cache-control.ts';

const ROWS: [string | string[], Partial<Directives>][] = [
  ['', {}],
  [',, ,', {}],
  ['max-age=3600', { maxAge: 3600 }],
  ['MaX-aGe=3600', { maxAge: 3600 }],
  ['max-age=003600', { maxAge: 3600 }],
  ['max-age="3600"', { maxAge: 3600 }],
  ["max-age='3600'", { maxAge: 0 }],
  ['max-age=3600.0', { maxAge: 0 }],
  ['max-age=a3600', { maxAge: 0 }],
  ['max-age=3600a', { maxAge: 0 }],
  ['max-age=-3600', { maxAge: 0 }],
  ['max-age', { maxAge: 0 }],
  ['max-age=', { maxAge: 0 }],
  ['max-age =3600', { maxAge: 0 }],
  ['max-age= 3600', { maxAge: 0 }],
  ['max-age=3600 foo', { maxAge: 0 }],
  ['max-age=3600;foo', { maxAge: 0 }],
  ['max-age=2147483648', { maxAge: 2147483648 }],
  ['max-age=99999999999999999999', { maxAge: 2147483648 }],
  ['max-age=1800, max-age=1', { maxAge: 1800 }],
  [['max-age=1', 'max-age=1800'], { maxAge: 1 }],
  ['extension="max-age=3600", max-age=1', { maxAge: 1 }],
  ['max-age=1, extension="max-age=3600"', { maxAge: 1 }],
  ['extension="a\\", no-store", max-age=1', { maxAge: 1 }],
  ['extension="unclosed, no-store', { noStore: true }],
  ['@, max-age=5', { maxAge: 5 }],
  [
    'foo=bar, s-maxage=7 , stale-while-revalidate=8,stale-if-error=9',
    { sMaxage: 7, staleWhileRevalidate: 8, staleIfError: 9 },
  ],
  ['no-store, no-cache, private, public', { noStore: true, noCache: true, isPrivate: true, isPublic: true }],
  ['no-store=1', { noStore: true }],
  ['must-revalidate,proxy-revalidate', { mustRevalidate: true, proxyRevalidate: true }],
  ['must-understand, no-transform, only-if-cached', { mustUnderstand: true, noTransform: true, onlyIfCached: true }],
  ['no-cache="Set-Cookie, X-A"', { noCacheFields: ['set-cookie', 'x-a'] }],
  ['no-cache=X-A', { noCacheFields: ['x-a'] }],
  ['no-cache=""', { noCache: true }],
  ['private; max-age=0', { isPrivate: true }],
  ['private max-age=60', { isPrivate: true }],
  ['private =x', { isPrivate: true }],
  ['private="A" B', { isPrivate: true }],
  ['private = "A, B", max-age=60', { isPrivate: true, maxAge: 60 }],
  ['private="A', { isPrivate: true }],
  ['no-cache no-store must-revalidate', { noCache: true, noStore: true }],
  ['No-Cache;NO-STORE', { noCache: true, noStore: true }],
  ['max-age=60;no-store', { maxAge: 0, noStore: true }],
  ['max-age=60; private="A"', { maxAge: 0, isPrivate: true }],
  ['foo bar private', { isPrivate: true }],
  ['"no-store"', { noStore: true }],
  ['"max-age=5, no-cache"', { noCache: true }],
  ['@no-store, max-age=5', { noStore: true, maxAge: 5 }],
  ['foo; not-private; no-store-x; xno-cache', {}],
  ['foo="a; no-store", bar=private', {}],
  ['no-cache="A", no-cache', { noCache: true, noCacheFields: ['a'] }],
  ['private="A", private="B"', { privateFields: ['a', 'b'] }],
  ['max-stale', { maxStale: Number.POSITIVE_INFINITY }],
  ['max-stale=5, min-fresh=6', { maxStale: 5, minFresh: 6 }],
];

describe('cache-control', () => {
  for (const [lines, expected] of ROWS) {
    test(`cache-control is read: ${JSON.stringify(lines)}`, () => {
      assert.deepEqual(parseCacheControl([lines].flat()), { ...NO_DIRECTIVES, ...expected });
    });
  }

  test('delta-seconds are digits alone', () => {
    const rows: [string, number | undefined][] = [
      ['0', 0],
      ['00', 0],
      ['2147483649', 2147483648],
      ['', undefined],
      ['+1', undefined],
      ['1e3', undefined],
      [' 1', undefined],
    ];
    for (const [text, expected] of rows) assert.equal(parseDeltaSeconds(text), expected, text);
  });

  test('law: no text makes it throw, and every number is within bounds', () => {
    const text = fc
      .array(fc.constantFrom('max-age', 's-maxage', '=', ',', '"', '\\', ' ', '1', 'x', '\u0080'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (value) => {
        const { maxAge = 0, sMaxage = 0 } = parseCacheControl([value]);
        assert.ok(maxAge >= 0 && maxAge <= 2 ** 31 && sMaxage >= 0 && sMaxage <= 2 ** 31);
      }),
    );
  });

  test('law: well-formed members come back as they were written', () => {
    const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9a-z-]{1,8}$/);
    const member = fc.record(
      {
        name: token,
        argument: fc.option(fc.stringMatching(/^[ -~]{0,8}$/), { nil: undefined }),
      },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(fc.array(member, { minLength: 1 }), (members) => {
        const text = members
          .map(({ name, argument }) =>
            argument === undefined ? name : `${name}="${argument.replace(/["\\]/g, '\\$&')}"`,
          )
          .join(', ');
        assert.deepEqual(tokenize(text), members);
      }),
    );
  });
});
