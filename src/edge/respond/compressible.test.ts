import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Compressible, codedHeaders, codedHeadersOf304, isCompressible, withVary } from './compressible.ts';

const HTML = ['Content-Type', 'text/html'];
const KIB = 1024;

const ROWS: Readonly<Record<string, readonly [response: Partial<Compressible>, isCompressible: boolean]>> = {
  'a page': [{}, true],
  'a page with a charset': [{ headers: ['content-type', 'Text/HTML ; charset=utf-8'] }, true],
  json: [{ headers: ['Content-Type', 'application/json'] }, true],
  svg: [{ headers: ['Content-Type', 'image/svg+xml'] }, true],
  'an image': [{ headers: ['Content-Type', 'image/png'] }, false],
  'an event stream': [{ headers: ['Content-Type', 'text/event-stream'] }, false],
  'no type': [{ headers: [] }, false],
  'not found': [{ status: 404 }, false],
  'a part': [{ status: 206 }, true],
  'not modified': [{ status: 304 }, false],
  'a page without content': [{ status: 204 }, false],
  'one byte too small': [{ bodyBytes: KIB - 1 }, false],
  'the smallest': [{ bodyBytes: KIB }, true],
  'the largest': [{ bodyBytes: 10 * KIB * KIB }, true],
  'one byte too large': [{ bodyBytes: 10 * KIB * KIB + 1 }, false],
  'of unknown length': [{ bodyBytes: undefined }, true],
  'coded already': [{ headers: [...HTML, 'Content-Encoding', 'gzip'] }, false],
  'no-transform': [{ headers: [...HTML, 'Cache-Control', 'max-age=1, No-Transform'] }, false],
  'no-transform on a later line': [
    { headers: [...HTML, 'Cache-Control', 'max-age=1', 'cache-control', 'no-transform'] },
    false,
  ],
  'no-transform for caches of this kind': [{ headers: [...HTML, 'CDN-Cache-Control', 'no-transform'] }, false],
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

describe('what is compressed', () => {
  for (const [name, [response, expected]] of Object.entries(ROWS)) {
    test(name, () => {
      assert.equal(isCompressible({ status: 200, headers: HTML, bodyBytes: 5000, ...response }), expected);
    });
  }

  test('Vary is merged into what the origin says', () => {
    for (const [from, to] of VARY) assert.deepEqual(withVary(from), to === 'same' ? from : to);
  });

  test('a coded head has a weak tag, the coding, and nothing that is true of the other bytes alone', () => {
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

  test('a tag that is weak, missing or none stays as it is', () => {
    for (const tag of [['ETag', 'W/"1"'], ['ETag', 'bare'], []]) {
      assert.deepEqual(codedHeaders([...tag, 'A', 'b'], 'gzip'), [...tag, 'A', 'b', 'Content-Encoding', 'gzip']);
    }
  });
});
