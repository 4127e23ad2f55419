import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { at, get, NOW, request, type StoreInput, store, tryStore, URI } from './examples.suite.ts';
import { allValues, firstValue, hasField } from './headers.ts';
import { expectedBodyBytes, type SkipReason } from './store.ts';

type Row = [headers: string[], input: StoreInput, outcome: 'store' | SkipReason];

const fresh = ['Cache-Control', 'max-age=60'];
const auth = { request: get('Authorization', 'x') };
const post = { request: request('POST', 'Content-Length', '5') };
const loc = ['Content-Location', '/a?b'];
const cookie = ['Set-Cookie', 'a=b'];

const FILLS = { hasPolicies: true, policy: { seconds: 60, overrides: false } };
/** The site has policies, none of them for this object. */
const UNMATCHED = { hasPolicies: true };
const publicSince = ['Cache-Control', 'public', 'Last-Modified', at(-1000)];
const OVERRIDES = { hasPolicies: true, policy: { seconds: 60, overrides: true } };

const ROWS: Row[] = [
  [fresh, {}, 'store'],
  [[], {}, 'noReuse'],
  [['ETag', '"a"'], {}, 'store'],
  [['Last-Modified', at(-100)], {}, 'store'],
  [['Last-Modified', 'yesterday'], {}, 'noReuse'],
  [['Expires', at(60)], {}, 'store'],
  [['Expires', at(-60)], {}, 'noReuse'],
  [['Cache-Control', 'max-age=0'], {}, 'noReuse'],
  [['Cache-Control', 'max-age=0, stale-while-revalidate=60'], {}, 'store'],
  [['Cache-Control', 'max-age=0', 'ETag', '"a"'], {}, 'store'],
  [['Cache-Control', 'no-cache, max-age=60'], {}, 'noReuse'],
  [['Cache-Control', 'no-cache', 'ETag', '"a"'], {}, 'store'],
  [['Cache-Control', 'no-store, max-age=60'], {}, 'noStore'],
  [['Cache-Control', 'private, max-age=60'], {}, 'private'],
  [['Cache-Control', 'private="X-A", max-age=60'], {}, 'store'],
  [[...fresh, 'Pragma', 'no-cache'], {}, 'store'],
  // targeted fields
  [['Cache-Control', 'no-store', 'CDN-Cache-Control', 'max-age=60'], {}, 'store'],
  [[...fresh, 'CDN-Cache-Control', 'no-store'], {}, 'noStore'],
  [[...fresh, 'Expires', at(60), 'CDN-Cache-Control', 'max-age=0'], {}, 'noReuse'],
  [['Expires', at(60), 'CDN-Cache-Control', 'foo'], {}, 'noReuse'],
  // statuses
  ...[200, 201, 203, 204, 299, 300, 301, 302, 303, 307, 308, 400, 404, 405, 410, 414, 451, 499, 500, 502, 503, 599].map(
    (status): Row => [fresh, { status }, 'store'],
  ),
  ...[201, 302, 403, 502, 503, 504, 599].map((status): Row => [['ETag', '"a"'], { status }, 'notCacheable']),
  ...[100, 103, 304, 412, 416].map((status): Row => [fresh, { status }, 'status']),
  [['Cache-Control', 'public', 'ETag', '"a"'], { status: 599 }, 'store'],
  [['Cache-Control', 'no-store, must-understand, max-age=60'], {}, 'store'],
  [['Cache-Control', 'no-store, must-understand, max-age=60'], { status: 599 }, 'status'],
  [['Cache-Control', 'must-understand, max-age=60'], { status: 599 }, 'status'],
  [['Cache-Control', 'must-understand, private, max-age=60'], {}, 'private'],
  [[], { status: 404, options: { defaultLifetimes: new Map([[404, 10]]) } }, 'store'],
  // a site's policy: as a default, and overriding the origin
  [[], { options: FILLS }, 'store'],
  [['Cache-Control', 'max-age=0'], { options: FILLS }, 'noReuse'],
  [['Cache-Control', 'no-cache', 'ETag', '"a"'], { options: FILLS }, 'store'],
  [['Pragma', 'no-cache', 'ETag', '"a"'], { options: FILLS }, 'noCache'],
  [['Pragma', 'no-cache', 'Cache-Control', 'public'], { options: FILLS }, 'noCache'],
  [[...fresh, 'Pragma', 'no-cache'], { options: FILLS }, 'store'],
  [cookie, { options: { ...FILLS, setCookie: 'store' } }, 'setCookie'],
  [[], { options: FILLS, ...auth }, 'authorization'],
  ...[UNMATCHED, FILLS, OVERRIDES].flatMap((options): Row[] => [
    ...[302, 303, 307].flatMap((status): Row[] => [
      [[], { status, options }, 'notCacheable'],
      [['ETag', '"a"'], { status, options }, 'notCacheable'],
      [publicSince, { status, options }, 'notCacheable'],
      [['Cache-Control', 'public, stale-while-revalidate=60'], { status, options }, 'notCacheable'],
      [fresh, { status, options }, 'store'],
      [['Expires', at(60)], { status, options }, 'store'],
    ]),
    ...[500, 501, 502, 503, 504, 599].flatMap((status): Row[] => [
      [fresh, { status, options }, 'notCacheable'],
      [['Cache-Control', 's-maxage=60, public'], { status, options }, 'notCacheable'],
      [publicSince, { status, options }, 'notCacheable'],
    ]),
  ]),
  [publicSince, { status: 302 }, 'store'],
  [publicSince, { options: UNMATCHED }, 'store'],
  [['Cache-Control', 'max-age=0'], { options: OVERRIDES }, 'store'],
  [['Expires', at(-60)], { options: OVERRIDES }, 'store'],
  [['CDN-Cache-Control', 'max-age=0'], { options: OVERRIDES }, 'store'],
  [['Cache-Control', 'no-store'], { options: OVERRIDES }, 'noStore'],
  [['Cache-Control', 'no-cache', 'ETag', '"a"'], { options: OVERRIDES }, 'noCache'],
  [['Cache-Control', 'private'], { options: OVERRIDES }, 'private'],
  [['Pragma', 'no-Cache'], { options: OVERRIDES }, 'noCache'],
  [['Vary', '*'], { options: OVERRIDES }, 'varyAny'],
  [cookie, { options: { ...OVERRIDES, setCookie: 'store' } }, 'setCookie'],
  [[], { options: OVERRIDES, ...auth }, 'authorization'],
  [[...fresh, ...loc], { ...post, options: OVERRIDES }, 'notCacheable'],
  [['ETag', '"a"'], { status: 403, options: OVERRIDES }, 'notCacheable'],
  [[], { status: 403, options: { defaultLifetimes: new Map([[403, 10]]) } }, 'store'],
  // the request
  [fresh, auth, 'authorization'],
  [['Cache-Control', 'max-age=60, public'], auth, 'store'],
  [['Cache-Control', 'max-age=60, must-revalidate'], auth, 'store'],
  [['Cache-Control', 's-maxage=60'], auth, 'store'],
  [['Cache-Control', 'max-age=60, proxy-revalidate'], auth, 'authorization'],
  [fresh, { request: get('Cookie', 'a=b') }, 'store'],
  [fresh, { request: get('Content-Length', '5') }, 'requestBody'],
  [fresh, { request: get('Cache-Control', 'no-store') }, 'store'],
  [fresh, { request: get('Cache-Control', 'no-store'), options: { requestDirectives: true } }, 'requestNoStore'],
  [fresh, { request: request('HEAD') }, 'method'],
  [fresh, { request: request('PUT') }, 'method'],
  [[...fresh, ...loc], post, 'store'],
  [[...fresh, 'Content-Location', URI], post, 'store'],
  [fresh, post, 'method'],
  [[...fresh, 'Content-Location', '/other'], post, 'method'],
  [[...fresh, 'Content-Location', 'http://other.example/a?b'], post, 'method'],
  [[...fresh, ...loc, ...loc], post, 'method'],
  [[...fresh, ...loc], { ...post, status: 299 }, 'store'],
  [[...fresh, ...loc], { ...post, status: 300 }, 'method'],
  [[...fresh, ...loc], { ...post, status: 404 }, 'method'],
  [['Last-Modified', at(-1000), ...loc], post, 'notCacheable'],
  // Vary
  [[...fresh, 'Vary', 'A, *'], {}, 'varyAny'],
  // Set-Cookie
  [[...fresh, ...cookie], {}, 'setCookie'],
  [[...fresh, ...cookie], { options: { setCookie: 'store' } }, 'store'],
  [['Last-Modified', at(-1000), ...cookie], { options: { setCookie: 'store' } }, 'setCookie'],
  [['Last-Modified', at(-1000), ...cookie], { options: { setCookie: 'strip' } }, 'store'],
  // parts
  [[...fresh, 'Content-Range', 'bytes 0-4/10'], { status: 206 }, 'store'],
  [[...fresh, 'Content-Range', 'bytes 0-4/10', 'Content-Length', '5'], { status: 206 }, 'store'],
  [[...fresh, 'Content-Range', 'bytes 4-9/10', 'Content-Length', '5'], { status: 206 }, 'contentRange'],
  [fresh, { status: 206 }, 'contentRange'],
  [[...fresh, 'Content-Range', 'bytes 0-4/*'], { status: 206 }, 'contentRange'],
  // a purge during the request
  [fresh, { requestAt: NOW - 10, invalidatedAt: NOW - 11 }, 'store'],
  [fresh, { requestAt: NOW - 10, invalidatedAt: NOW - 10 }, 'invalidated'],
  [fresh, { requestAt: NOW - 10, invalidatedAt: NOW }, 'invalidated'],
];

describe('may be stored', () => {
  for (const [headers, input, expected] of ROWS) {
    const { request: asked, ...rest } = input;
    test(`may be stored, ${expected}: ${headers.join(' ')} ${asked?.method ?? ''} ${asked?.sentHeaders() ?? ''} ${JSON.stringify(rest)}`, () => {
      const outcome = tryStore(headers, input);
      assert.equal(outcome.kind === 'store' ? 'store' : outcome.reason, expected);
    });
  }
});

describe('stored responses', () => {
  test('a stored response has times, validators and prohibitions as numbers and flags', () => {
    const stored = store(
      [
        'Cache-Control',
        'max-age=60, stale-while-revalidate=5, stale-if-error=6, no-transform',
        'ETag',
        'W/"a"',
        'Age',
        '7',
      ],
      { requestAt: NOW - 500 },
    );
    assert.deepEqual(stored, {
      status: 200,
      reason: 'X',
      headers: [
        'Date',
        at(0),
        'Cache-Control',
        'max-age=60, stale-while-revalidate=5, stale-if-error=6, no-transform',
        'ETag',
        'W/"a"',
      ],
      vary: [],
      varyKey: '',
      varyHeaders: [],
      etag: 'W/"a"',
      range: undefined,
      requestAt: NOW - 500,
      responseAt: NOW,
      dateAt: NOW,
      lastModifiedAt: undefined,
      initialAgeMs: 7500,
      lifetimeMs: 60_000,
      staleWhileRevalidateMs: 5000,
      staleIfErrorMs: 6000,
      mustValidate: false,
      forbidsStale: false,
      isInvalid: false,
      noTransform: true,
    });
  });

  test('stale use is forbidden by the directives that say so, by s-maxage only without an explicit window', () => {
    const rows: [string, boolean][] = [
      ['max-age=1', false],
      ['max-age=1, must-revalidate', true],
      ['max-age=1, proxy-revalidate', true],
      ['max-age=1, must-revalidate, stale-while-revalidate=5', true],
      ['s-maxage=1', true],
      ['s-maxage=1, stale-while-revalidate=5', false],
      ['s-maxage=1, stale-if-error=5', false],
    ];
    for (const [cc, expected] of rows) assert.equal(store(['Cache-Control', cc]).forbidsStale, expected, cc);
  });

  test('fields for the first client only, Age and hop-by-hop fields are left out', () => {
    const { headers } = store([
      ...['Cache-Control', 'max-age=1, no-cache="X-A, x-b", private="X-C"', 'X-A', '1', 'x-b', '1', 'X-C', '1'],
      ...['Age', '5', 'Connection', 'X-D', 'X-D', '1', 'Transfer-Encoding', 'chunked', 'Trailer', 'X', 'X-E', '1'],
    ]);
    assert.deepEqual(
      headers.filter((_, i) => i % 2 === 0),
      ['Date', 'Cache-Control', 'X-E'],
    );
  });

  test('a missing or invalid Date is replaced by the time of receipt', () => {
    for (const date of [
      ['Date', 'today'],
      ['Date', ''],
    ]) {
      const stored = store([...fresh, ...date]);
      assert.equal(stored.dateAt, NOW);
      assert.deepEqual(allValues(stored.headers, 'date'), [at(0)]);
    }
  });

  test('strip stores the response without the cookie; store keeps both', () => {
    assert.equal(
      hasField(store([...fresh, ...cookie], { options: { setCookie: 'strip' } }).headers, 'set-cookie'),
      false,
    );
    assert.equal(
      hasField(store([...fresh, ...cookie], { options: { setCookie: 'store' } }).headers, 'set-cookie'),
      true,
    );
  });

  test('the secondary key is made from the request', () => {
    const stored = store([...fresh, 'Vary', 'X-B, x-a'], { request: get('X-A', '1', 'x-b', '2', 'x-c', '3') });
    assert.deepEqual(stored.vary, ['x-a', 'x-b']);
    assert.deepEqual(stored.varyHeaders, ['x-a', '1', 'x-b', '2']);
  });

  test('the expected length is that of the range, or else Content-Length', () => {
    assert.equal(expectedBodyBytes(store(fresh)), undefined);
    assert.equal(expectedBodyBytes(store([...fresh, 'Content-Length', '12'])), 12);
    assert.equal(expectedBodyBytes(store([...fresh, 'Content-Length', '12, 12'])), undefined);
    assert.equal(expectedBodyBytes(store([...fresh, 'Content-Range', 'bytes 2-4/10'], { status: 206 })), 3);
  });

  test('law: no hop-by-hop field and no Age is ever stored, Date always is, and it survives JSON', () => {
    const name = fc.constantFrom(
      'Connection',
      'Keep-Alive',
      'TE',
      'Trailer',
      'Transfer-Encoding',
      'Upgrade',
      'Proxy-Authenticate',
      'Age',
      'X-A',
      'X-B',
      'Date',
    );
    const value = fc.constantFrom('x-a', 'X-B, close', 'date', '5', 'chunked', at(-5));
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), (lines) => {
        const headers = lines.flat();
        const stored = store([...headers, ...fresh]);
        const listed = allValues(headers, 'connection').join(',').toLowerCase();
        const names = stored.headers.filter((_, i) => i % 2 === 0).map((each) => each.toLowerCase());
        const forbidden = names.filter(
          (each) =>
            /^(connection|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*|age)$/.test(each) ||
            (each.startsWith('x-') && listed.includes(each)),
        );
        assert.deepEqual(forbidden, []);
        assert.notEqual(firstValue(stored.headers, 'date'), undefined);
        const read = JSON.parse(JSON.stringify(stored));
        assert.deepEqual({ ...stored, ...read }, stored);
      }),
    );
  });
});
