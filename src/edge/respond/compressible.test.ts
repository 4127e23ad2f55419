import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Compressible, codedHeaders, codedHeadersOf304, isCompressible, withVary } from './compressible.ts';

const HTML = ['Content-Type', 'text/html'];
const KIB = 1024;

const ROWS: Readonly<Record<string, readonly [response: Partial<Compressible>, isCompressible: boolean]>> = {
  'a page': [{}, true],
  'a page with a charset': [{ headers: ['content-type', 'Text/HTML ; charset=utf-8'] }, true],
  JSON: [{ headers: ['Content-Type', 'application/json'] }, true],
  SVG: [{ headers: ['Content-Type', 'image/svg+xml'] }, true],
  'an image': [{ headers: ['Content-Type', 'image/png'] }, false],
  'an event stream': [{ headers: ['Content-Type', 'text/event-stream'] }, false],
  'a page without a type': [{ headers: [] }, false],
  'a 404': [{ status: 404 }, false],
  'a part': [{ status: 206 }, true],
  'a 304': [{ status: 304 }, false],
  'a page without content': [{ status: 204 }, false],
  'a page one byte too small': [{ bodyBytes: KIB - 1 }, false],
  'the smallest page': [{ bodyBytes: KIB }, true],
  'the largest page': [{ bodyBytes: 10 * KIB * KIB }, true],
  'a page one byte too large': [{ bodyBytes: 10 * KIB * KIB + 1 }, false],
  'a page of unknown length': [{ bodyBytes: undefined }, true],
  'a page with a coding': [{ headers: [...HTML, 'Content-Encoding', 'gzip'] }, false],
  'a page with no-transform': [{ headers: [...HTML, 'Cache-Control', 'max-age=1, No-Transform'] }, false],
  'a page with no-transform on a later line': [
    { headers: [...HTML, 'Cache-Control', 'max-age=1', 'cache-control', 'no-transform'] },
    false,
  ],
  'a page with a targeted no-transform': [{ headers: [...HTML, 'CDN-Cache-Control', 'no-transform'] }, false],
};

const VARY: readonly (readonly [from: readonly string[], to: readonly string[] | 'same'])[] = [
  [
    ['A', 'b'],
    ['A', 'b', 'Vary', 'Accept-Encoding'],
  ],
  [
    ['Vary', 'Cookie', 'A', 'b'],
    ['A', 'b', 'Vary', 'Cookie, Accept-Encoding'],
  ],
  [
    ['vary', 'Cookie', 'VARY', 'Origin'],
    ['Vary', 'Cookie, Origin, Accept-Encoding'],
  ],
  [['Vary', 'Cookie, ACCEPT-encoding'], 'same'],
  [['Vary', '*'], 'same'],
];

describe('which pages are compressed', () => {
  for (const [name, [response, expected]] of Object.entries(ROWS)) {
    test(`${name} ${expected ? 'is' : 'is not'} compressed`, () => {
      assert.equal(isCompressible({ status: 200, headers: HTML, bodyBytes: 5000, ...response }), expected);
    });
  }

  test("Vary is merged into the origin's", () => {
    for (const [from, to] of VARY) assert.deepEqual(withVary(from), to === 'same' ? from : to);
  });

  test('a coded head has a weak tag, the coding, and no field that describes the uncoded bytes only', () => {
    const gone = [
      'Content-MD5',
      'x',
      'Digest',
      'x',
      'content-digest',
      'x',
      'Repr-Digest',
      'x',
      'Accept-Ranges',
      'bytes',
    ];
    const headers = [...HTML, 'ETag', '"1"', 'Content-Length', '5000', ...gone];
    const coded = [...HTML, 'ETag', 'W/"1"', 'Content-Encoding', 'br'];
    assert.deepEqual(codedHeaders(headers, 'br'), coded);
    assert.deepEqual(codedHeaders(headers, 'br', 99), [...coded, 'Content-Length', '99']);
    assert.deepEqual(codedHeadersOf304(headers), [...HTML, 'ETag', 'W/"1"']);
  });

  test('a tag that is weak, missing or invalid is unchanged', () => {
    for (const tag of [['ETag', 'W/"1"'], ['ETag', 'bare'], []]) {
      assert.deepEqual(codedHeaders([...tag, 'A', 'b'], 'gzip'), [...tag, 'A', 'b', 'Content-Encoding', 'gzip']);
    }
  });
});
