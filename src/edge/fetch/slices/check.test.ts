import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readRequestFacts } from '#http/request-facts.ts';
import { storeResponse } from '#http/store.ts';
import type { Stored } from '#http/stored.ts';
import { DEFAULT_CACHE_OPTIONS } from '#sites/cache-options.ts';
import { generationOf, isChange, isOfObject, readPartRange, wholeHead } from './check.ts';

const ASKED = { first: 100, last: 199 };
const RANGE = ['Content-Range', 'bytes 100-199/1000', 'Content-Length', '100'];

const head = (headers: readonly string[], status = 206) => ({ status, reason: '', headers });

describe('a partial response to a slice', () => {
  const good: readonly (readonly string[])[] = [
    RANGE,
    ['Content-Range', 'bytes 100-149/150', 'Content-Length', '50'],
    ['Content-Range', 'BYTES 100-100/101', 'Content-Length', '1'],
  ];
  for (const headers of good) {
    test(`${headers.join(' ')} answers the slice`, () =>
      assert.notEqual(readPartRange(head(headers), ASKED), undefined));
  }

  const bad: readonly (readonly string[])[] = [
    [],
    ['Content-Length', '100'],
    ['Content-Range', 'bytes 100-199/1000'],
    ['Content-Range', 'bytes 100-199/*', 'Content-Length', '100'],
    ['Content-Range', 'bytes 100-198/1000', 'Content-Length', '99'],
    ['Content-Range', 'bytes 100-200/1000', 'Content-Length', '101'],
    ['Content-Range', 'bytes 101-199/1000', 'Content-Length', '99'],
    ['Content-Range', 'bytes 0-99/1000', 'Content-Length', '100'],
    ['Content-Range', 'bytes */1000', 'Content-Length', '100'],
    ['Content-Range', 'bytes 100-199/150', 'Content-Length', '100'],
    ['Content-Range', 'bytes 100-199/1000', 'Content-Length', '99'],
    ['Content-Range', 'bytes 100-199/1000', 'Content-Length', '0100'],
    [...RANGE, 'Content-Range', 'bytes 100-199/1000'],
    [...RANGE, 'Content-Length', '100'],
    [...RANGE, 'Content-Encoding', 'gzip'],
    [...RANGE, 'Transfer-Encoding', 'chunked'],
  ];
  for (const headers of bad) {
    test(`${headers.join(' ')} does not answer the slice`, () =>
      assert.equal(readPartRange(head(headers), ASKED), undefined));
  }

  test('a slice has the status 206', () => assert.equal(readPartRange(head(RANGE, 200), ASKED), undefined));
});

const AT = Date.parse('2030-01-02T00:00:00Z');
const OLD = 'Tue, 01 Jan 2030 00:00:00 GMT';

function store(headers: readonly string[], totalBytes = 1000, requestHeaders: readonly string[] = []): Stored {
  const facts = readRequestFacts({ method: 'GET', uri: 'http://a/b', headers: requestHeaders });
  const whole = wholeHead(head([...RANGE, 'Cache-Control', 'max-age=9', ...headers]), totalBytes);
  const outcome = storeResponse(facts, whole, { requestAt: AT, responseAt: AT }, DEFAULT_CACHE_OPTIONS);
  if (outcome.kind !== 'store') throw new Error(outcome.reason);
  return outcome.stored;
}

test('fields that describe a part are not in the head of the whole', () => {
  const of = ['Content-MD5', 'x', 'Content-Digest', 'sha-256=:x:', 'Repr-Digest', 'sha-256=:y:'];
  const { headers } = wholeHead(head([...RANGE, ...of]), 1000);
  assert.deepEqual(headers, ['Repr-Digest', 'sha-256=:y:', 'Accept-Ranges', 'bytes', 'Content-Length', '1000']);
});

test('a status of this request or this moment says nothing about the object', () => {
  assert.deepEqual([200, 206, 404, 410, 416].map(isChange), [true, true, true, true, true]);
  assert.deepEqual([302, 401, 403, 408, 429, 500, 503].map(isChange), Array(7).fill(false));
});

describe('an object in slices', () => {
  test('an object in slices has the head of the whole', () => {
    const { status, headers } = store(['ETag', '"a"', 'Accept-Ranges', 'bytes']);
    assert.equal(status, 200);
    assert.deepEqual(headers.filter((_, i) => i % 2 === 0).sort(), [
      'Accept-Ranges',
      'Cache-Control',
      'Content-Length',
      'Date',
      'ETag',
    ]);
    assert.equal(headers[headers.indexOf('Content-Length') + 1], '1000');
  });

  test('an object in slices is identified by strong tag, length and variant', () => {
    const names = [
      store(['ETag', '"a"']),
      store(['ETag', '"b"']),
      store(['ETag', '"a"'], 1001),
      store(['ETag', '"a"', 'Vary', 'X']),
      store(['ETag', '"a"', 'Vary', 'X'], 1000, ['X', '1']),
      store(['Last-Modified', OLD]),
      store(['Last-Modified', OLD, 'ETag', 'W/"a"']),
    ].map(generationOf);
    assert.equal(new Set(names).size, names.length);
    assert.ok(!names.includes(undefined));
    assert.equal(generationOf(store(['ETag', '"a"', 'Last-Modified', OLD])), generationOf(store(['ETag', '"a"'])));
  });

  test('an object without a strong validator has no identity', () => {
    const now = new Date(AT).toUTCString();
    for (const headers of [
      [],
      ['ETag', 'W/"a"'],
      ['ETag', 'a'],
      ['Last-Modified', now],
      ['Last-Modified', 'yesterday'],
    ]) {
      assert.equal(generationOf(store(headers)), undefined, headers.join(' '));
    }
  });

  const range = { first: 100, last: 199, complete: 1000 };
  const parts: readonly [of: readonly string[], part: readonly string[], isOf: boolean][] = [
    [['ETag', '"a"'], ['ETag', '"a"'], true],
    [['ETag', '"a"'], ['ETag', '"b"'], false],
    [['ETag', '"a"'], ['ETag', 'W/"a"'], false],
    [['ETag', '"a"'], [], false],
    // After If-Range it need not be repeated.
    [['ETag', '"a"', 'Last-Modified', OLD], ['ETag', '"a"'], true],
    [['Last-Modified', OLD], ['Last-Modified', OLD], true],
    [['Last-Modified', OLD], ['Last-Modified', 'Tue, 01 Jan 2030 00:00:01 GMT'], false],
    [['Last-Modified', OLD], [], false],
    [['Last-Modified', OLD], ['Last-Modified', OLD, 'ETag', '"a"'], false],
    [['Last-Modified', OLD, 'ETag', 'W/"a"'], ['Last-Modified', OLD, 'ETag', 'W/"a"'], true],
    [['Last-Modified', OLD, 'ETag', 'W/"a"'], ['Last-Modified', OLD, 'ETag', 'W/"b"'], false],
  ];
  for (const [of, part, isOf] of parts) {
    test(`${of.join(' ')}: a part with ${part.join(' ')} is ${isOf ? '' : 'not '}of it`, () => {
      assert.equal(isOfObject(store(of), range, head(part)), isOf);
    });
  }

  test('an object in slices has only parts with its length', () => {
    assert.ok(!isOfObject(store(['ETag', '"a"']), { ...range, complete: 999 }, head(['ETag', '"a"'])));
  });
});
