import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { at, get, NOW, request, store } from './examples.suite.ts';
import { allValues, firstValue } from './headers.ts';
import type { RequestFacts, Stored } from './stored.ts';
import { answerFromStored, firstHandHeaders, type StoredAnswer } from './stored-answer.ts';

const BODY = '0123456789';
const fresh = ['Cache-Control', 'max-age=60', 'Content-Type', 'text/plain'];
const whole = store([
  ...fresh,
  'Content-Length',
  '10',
  'ETag',
  '"a"',
  'Causeway-CDN-Cache-Control',
  'max-age=60',
  'CDN-Cache-Control',
  'x',
]);
const part = store([...fresh, 'Content-Range', 'bytes 2-5/10', 'Content-Length', '4'], { status: 206 });

function answer(facts: RequestFacts, stored: Stored = whole, bodyBytes: number | undefined = 10): StoredAnswer {
  return answerFromStored(facts, stored, { now: NOW + 5900, bodyBytes, boundary: 'B' });
}

function headersOf(result: StoredAnswer) {
  return 'headers' in result ? result.headers : assert.fail(result.kind);
}

describe('an answer from the store', () => {
  test('an answer from the store is the whole response with its own Age and without our targeted field', () => {
    const result = answer(get());
    assert.equal(result.kind, 'full');
    assert.deepEqual(headersOf(result), [
      ...['Date', at(0), ...fresh, 'ETag', '"a"', 'CDN-Cache-Control', 'x', 'Age', '5', 'Content-Length', '10'],
    ]);
  });

  test('an answer from the store is the same for HEAD, whatever Range it has', () => {
    assert.deepEqual(answer(request('HEAD', 'Range', 'bytes=0-1')), answer(get()));
  });

  test('an answer from the store keeps the origin’s length while the body still arrives, and then ignores ranges', () => {
    const filling = answerFromStored(get('Range', 'bytes=0-1'), whole, {
      now: NOW,
      bodyBytes: undefined,
      boundary: 'B',
    });
    assert.equal(filling.kind, 'full');
    assert.deepEqual(allValues(headersOf(filling), 'content-length'), ['10']);
  });

  test('an answer from the store is 304 for a current copy, before any range, without fields that describe the content', () => {
    const result = answer(get('If-None-Match', '"a"', 'Range', 'bytes=0-1'));
    assert.equal(result.kind, 'notModified');
    assert.deepEqual(headersOf(result), [
      ...['Date', at(0), 'Cache-Control', 'max-age=60', 'ETag', '"a"', 'CDN-Cache-Control', 'x', 'Age', '5'],
    ]);
  });

  test('an answer from the store is a part for a range', () => {
    const rows: [string, [number, number] | 'full' | 'unsatisfiable', string?][] = [
      ['bytes=0-1', [0, 1], 'bytes 0-1/10'],
      ['bytes=1-', [1, 9], 'bytes 1-9/10'],
      ['bytes=-1', [9, 9], 'bytes 9-9/10'],
      ['bytes=5-50', [5, 9], 'bytes 5-9/10'],
      ['bytes=10-', 'unsatisfiable', 'bytes */10'],
      ['bytes=10-, 11-12', 'unsatisfiable', 'bytes */10'],
      ['bytes=0-1, 50-', [0, 1], 'bytes 0-1/10'],
      ['bytes=0-9, 0-9', 'full'],
      ['bytes=2-1', 'full'],
      ['lines=0-1', 'full'],
    ];
    for (const [range, expected, contentRange] of rows) {
      const result = answer(get('Range', range));
      const shown = result.kind === 'partial' ? [result.span.first, result.span.last] : result.kind;
      assert.deepEqual(shown, expected, range);
      assert.equal(firstValue(headersOf(result), 'content-range'), contentRange, range);
      if (result.kind === 'partial') {
        assert.deepEqual(allValues(headersOf(result), 'content-length'), [
          String(result.span.last - result.span.first + 1),
        ]);
      }
    }
  });

  test('an answer from the store is the whole if If-Range does not hold', () => {
    assert.equal(answer(get('Range', 'bytes=0-1', 'If-Range', '"b"')).kind, 'full');
    assert.equal(answer(get('Range', 'bytes=0-1', 'If-Range', '"a"')).kind, 'partial');
  });

  test('an answer from the store has no ranges of an error page', () => {
    assert.equal(answer(get('Range', 'bytes=0-1'), store(fresh, { status: 404 })).kind, 'full');
  });

  test('an answer from the store is multipart for several ranges, with the length of the bytes sent', () => {
    const result = answer(get('Range', 'bytes=0-1, 4-5, -1'));
    assert.equal(result.kind, 'multipart');
    if (result.kind !== 'multipart') return;
    const body =
      result.parts.map(({ head, span }) => head + BODY.slice(span.first, span.last + 1)).join('') + result.tail;
    assert.equal(firstValue(result.headers, 'content-length'), String(body.length));
    assert.equal(firstValue(result.headers, 'content-type'), 'multipart/byteranges; boundary=B');
    assert.equal(
      body,
      '\r\n--B\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/10\r\n\r\n01' +
        '\r\n--B\r\nContent-Type: text/plain\r\nContent-Range: bytes 4-5/10\r\n\r\n45' +
        '\r\n--B\r\nContent-Type: text/plain\r\nContent-Range: bytes 9-9/10\r\n\r\n9\r\n--B--\r\n',
    );
  });

  test('an answer from a stored part has positions in that part, or says that they are not in it', () => {
    const inside = answer(get('Range', 'bytes=3-4'), part, 4);
    assert.deepEqual(inside.kind === 'partial' && inside.span, { first: 1, last: 2 });
    assert.equal(firstValue(headersOf(inside), 'content-range'), 'bytes 3-4/10');
    assert.deepEqual(allValues(headersOf(inside), 'content-length'), ['2']);
    assert.equal(answer(get('Range', 'bytes=20-'), part, 4).kind, 'unsatisfiable');
    for (const facts of [get(), get('Range', 'bytes=0-3'), get('Range', 'bytes=2-3, 4-5')]) {
      assert.equal(answer(facts, part, 4).kind, 'uncovered');
    }
  });

  test('law: no range makes an answer throw or leave the body', () => {
    const text = fc.array(fc.constantFrom('bytes=', '0', '7', '10', '-', ',', ' ', 'x')).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.constantFrom(whole, part), (range, stored) => {
        const size = stored === whole ? 10 : 4;
        const result = answer(get('Range', `bytes=${range}`), stored, size);
        const spans =
          result.kind === 'partial'
            ? [result.span]
            : result.kind === 'multipart'
              ? result.parts.map(({ span }) => span)
              : [];
        for (const { first, last } of spans) assert.ok(first >= 0 && first <= last && last < size);
      }),
    );
  });
});

describe('a first-hand response', () => {
  test("a first-hand response loses hop-by-hop fields and our targeted one; it has Age only with the origin's or after a second", () => {
    const rows: [string[], delayMs: number, string[]][] = [
      [['Date', at(0), 'Connection', 'X', 'X', '1', 'causeway-cdn-cache-control', 'x'], 0, ['Date', at(0)]],
      [['Date', at(0)], 999, ['Date', at(0)]],
      [['Date', at(0)], 1500, ['Date', at(0), 'Age', '1']],
      [['Age', '5', 'Date', at(0)], 0, ['Age', '5', 'Date', at(0)]],
      [['Age', '5', 'Date', at(0)], 2500, ['Date', at(0), 'Age', '7']],
      [['A', '1'], 0, ['A', '1', 'Date', at(0)]],
      [['Date', 'x'], 0, ['Date', at(0)]],
    ];
    for (const [headers, delayMs, expected] of rows) {
      assert.deepEqual(firstHandHeaders(headers, { requestAt: NOW - delayMs, responseAt: NOW }), expected);
    }
  });
});
