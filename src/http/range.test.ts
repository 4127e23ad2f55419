import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  type ByteRange,
  formatContentRange,
  MAX_RANGES,
  parseContentRange,
  parseRange,
  resolveRange,
} from './range.ts';

const from = (first: number, last?: number): ByteRange => ({ kind: 'from', first, last });
const suffix = (length: number): ByteRange => ({ kind: 'suffix', length });

describe('range', () => {
  test('range headers are read, or ignored as a whole', () => {
    const rows: [string, ByteRange[] | undefined][] = [
      ['bytes=0-1', [from(0, 1)]],
      ['Bytes=5-', [from(5)]],
      ['bytes=-5', [suffix(5)]],
      ['bytes= 0-1 , 3-4,,-2', [from(0, 1), from(3, 4), suffix(2)]],
      ['bytes=1-0', undefined],
      ['bytes=0-1, 3-2', undefined],
      ['bytes=-', undefined],
      ['bytes=', undefined],
      ['bytes=a-b', undefined],
      ['bytes 0-1', undefined],
      ['lines=0-1', undefined],
      ['bytes=0-1-2', undefined],
      ['', undefined],
      [`bytes=${'0-0,'.repeat(MAX_RANGES)}`, Array(MAX_RANGES).fill(from(0, 0))],
      [`bytes=${'0-0,'.repeat(MAX_RANGES + 1)}`, undefined],
    ];
    for (const [text, expected] of rows) assert.deepEqual(parseRange(text), expected, text);
  });

  test('ranges are cut to the body', () => {
    const rows: [ByteRange, number, [number, number] | undefined][] = [
      [from(0, 1), 10, [0, 1]],
      [from(5), 10, [5, 9]],
      [from(5, 100), 10, [5, 9]],
      [from(10), 10, undefined],
      [from(0), 0, undefined],
      [suffix(3), 10, [7, 9]],
      [suffix(30), 10, [0, 9]],
      [suffix(0), 10, undefined],
      [suffix(1), 0, undefined],
    ];
    for (const [range, complete, expected] of rows) {
      const span = expected === undefined ? undefined : { first: expected[0], last: expected[1] };
      assert.deepEqual(resolveRange(range, complete), span, JSON.stringify(range));
    }
  });

  test('Content-Range needs numbers that fit each other', () => {
    assert.deepEqual(parseContentRange('bytes 0-4/10'), { first: 0, last: 4, complete: 10 });
    for (const text of [
      'bytes 0-4/*',
      'bytes */10',
      'bytes 5-4/10',
      'bytes 0-10/10',
      'items 0-4/10',
      '0-4/10',
      'bytes 0-4/10, bytes 5-9/10',
      '',
    ]) {
      assert.equal(parseContentRange(text), undefined, text);
    }
  });

  test('law: a resolved range lies inside, and its Content-Range is read back', () => {
    const range = fc.oneof(
      fc
        .tuple(fc.nat(100), fc.option(fc.nat(100), { nil: undefined }))
        .map(([first, more]) => from(first, more === undefined ? undefined : first + more)),
      fc.nat(100).map(suffix),
    );
    fc.assert(
      fc.property(range, fc.nat(100), (each, complete) => {
        const span = resolveRange(each, complete);
        if (span === undefined) return;
        assert.ok(span.first >= 0 && span.first <= span.last && span.last < complete);
        assert.deepEqual(parseContentRange(formatContentRange(span, complete)), { ...span, complete });
      }),
    );
  });

  test('law: no text makes the range parser throw', () => {
    fc.assert(fc.property(fc.string(), (text) => void [parseRange(`bytes=${text}`), parseContentRange(text)]));
  });
});
