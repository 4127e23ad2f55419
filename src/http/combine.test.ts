import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { asWhole, type Combination, combine, completionHeaders } from './combine.ts';
import { store } from './examples.suite.ts';
import { allValues } from './headers.ts';
import type { PartialRange, Stored } from './stored.ts';

const WHOLE = '0123456789';

function part(first: number, last: number, etag = '"a"', ...more: string[]): Stored & { readonly range: PartialRange } {
  const headers = [
    'Cache-Control',
    'max-age=60',
    'Content-Range',
    `bytes ${first}-${last}/10`,
    'Content-Length',
    String(last - first + 1),
  ];
  const stored = store([...headers, ...(etag === '' ? [] : ['ETag', etag]), ...more], { status: 206 });
  return { ...stored, range: { first, last, complete: 10 } };
}

function bytes(combination: Combination, older: Stored, newer: Stored): string {
  const bodies = { older, newer };
  return combination.pieces
    .map(({ from, start, end }) => {
      const { first = 0, last = 0 } = bodies[from].range ?? {};
      return WHOLE.slice(first, last + 1).slice(start, end);
    })
    .join('');
}

describe('parts', () => {
  test('parts without a gap are the whole, others stay as they are', () => {
    const whole = asWhole(part(0, 9));
    assert.deepEqual([whole.status, whole.range], [200, undefined]);
    assert.deepEqual(allValues(whole.headers, 'content-range'), []);
    assert.deepEqual(allValues(whole.headers, 'content-length'), ['10']);
    for (const stored of [part(0, 8), part(1, 9), whole]) assert.equal(asWhole(stored), stored);
  });

  test('parts are combined if they touch and share a strong tag', () => {
    const rows: [[number, number], [number, number], string | undefined][] = [
      [[0, 4], [5, 9], '0123456789'],
      [[5, 9], [0, 4], '0123456789'],
      [[0, 6], [3, 9], '0123456789'],
      [[0, 3], [4, 6], '0123456'],
      [[2, 8], [4, 5], '2345678'],
      [[4, 5], [2, 8], '2345678'],
      [[0, 3], [5, 9], undefined],
      [[6, 9], [0, 4], undefined],
    ];
    for (const [a, b, expected] of rows) {
      const [older, newer] = [part(...a), part(...b)];
      const combination = combine(older, newer);
      assert.equal(combination && bytes(combination, older, newer), expected, JSON.stringify([a, b]));
    }
  });

  test('parts that are complete are a 200 with the newer one’s fields', () => {
    const newer = part(5, 9, '"a"', 'X', 'new');
    const { stored } = combine(part(0, 4, '"a"', 'X', 'old'), newer) ?? assert.fail();
    assert.equal(stored.status, 200);
    assert.equal(stored.range, undefined);
    assert.deepEqual(allValues(stored.headers, 'content-range'), []);
    assert.deepEqual(allValues(stored.headers, 'content-length'), ['10']);
    assert.deepEqual(allValues(stored.headers, 'x'), ['new']);
  });

  test('parts that are not complete are a 206 with the new range', () => {
    const { stored } = combine(part(0, 3), part(4, 6)) ?? assert.fail();
    assert.equal(stored.status, 206);
    assert.deepEqual(stored.range, { first: 0, last: 6, complete: 10 });
    assert.deepEqual(allValues(stored.headers, 'content-range'), ['bytes 0-6/10']);
    assert.deepEqual(allValues(stored.headers, 'content-length'), ['7']);
  });

  test('parts of other representations are not combined', () => {
    const other = { ...part(5, 9), range: { first: 5, last: 9, complete: 11 } };
    const whole = store(['Cache-Control', 'max-age=60', 'ETag', '"a"']);
    const rows: [Stored, Stored][] = [
      [part(0, 4, '"a"'), part(5, 9, '"b"')],
      [part(0, 4, 'W/"a"'), part(5, 9, 'W/"a"')],
      [part(0, 4, ''), part(5, 9, '')],
      [part(0, 4), other],
      [part(0, 4), whole],
      [whole, part(5, 9)],
    ];
    for (const [a, b] of rows) assert.equal(combine(a, b), undefined);
  });

  test('law: two touching parts give exactly the bytes from the first to the last', () => {
    const span = fc.tuple(fc.nat(9), fc.nat(9)).map(([a, b]): [number, number] => [Math.min(a, b), Math.max(a, b)]);
    fc.assert(
      fc.property(span, span, (a, b) => {
        const [older, newer] = [part(...a), part(...b)];
        const combination = combine(older, newer);
        const touches = a[0] <= b[1] + 1 && b[0] <= a[1] + 1;
        assert.equal(combination !== undefined, touches);
        if (combination === undefined) return;
        assert.equal(bytes(combination, older, newer), WHOLE.slice(Math.min(a[0], b[0]), Math.max(a[1], b[1]) + 1));
      }),
    );
  });

  test('the rest of a prefix is requested, bound to its strong tag', () => {
    assert.deepEqual(completionHeaders(['X', '1', 'If-None-Match', '"z"'], part(0, 4)), [
      'X',
      '1',
      'Range',
      'bytes=5-',
      'If-Range',
      '"a"',
    ]);
    assert.deepEqual(completionHeaders([], part(0, 4, 'W/"a"')), ['Range', 'bytes=5-']);
  });
});
