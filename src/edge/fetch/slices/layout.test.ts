import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { firstSliceFor, indexKey, SLICE_BYTES, sliceAt, sliceKey, sliceSpan } from './layout.ts';

const MIB = SLICE_BYTES;

describe('slices of an object', () => {
  test('slices are aligned, and the last ends with the object', () => {
    assert.deepEqual([0, MIB - 1, MIB, 3 * MIB + 1].map(sliceAt), [0, 0, 1, 3]);
    assert.deepEqual(sliceSpan(0), { first: 0, last: MIB - 1 });
    assert.deepEqual(sliceSpan(2, 10 * MIB), { first: 2 * MIB, last: 3 * MIB - 1 });
    assert.deepEqual(sliceSpan(2, 2 * MIB + 1), { first: 2 * MIB, last: 2 * MIB });
  });

  const firsts: readonly [range: string | undefined, slice: number][] = [
    [undefined, 0],
    ['bytes=0-', 0],
    [`bytes=${MIB}-`, 1],
    [`bytes=${MIB - 1}-${5 * MIB}`, 0],
    [`bytes=${5 * MIB}-${5 * MIB},${3 * MIB}-${3 * MIB}`, 3],
    // Suffix ranges, of an object whose size is unknown.
    ['bytes=-5', 0],
    [`bytes=${5 * MIB}-,-5`, 0],
    // Ranges that are ignored.
    ['bytes=5-1', 0],
    ['pages=1-2', 0],
    [`bytes=${'9'.repeat(30)}-`, 0],
    [`bytes=${Number.MAX_SAFE_INTEGER}-`, 0],
    [`bytes=${'9'.repeat(400)}-`, 0],
  ];
  for (const [range, slice] of firsts) {
    test(`the range ${range?.slice(0, 40)} begins with slice ${slice}`, () =>
      assert.equal(firstSliceFor(range), slice));
  }

  test('slices have keys that no target can make', () => {
    const keys = [
      indexKey('1  a /b'),
      sliceKey('1  a /b', 0, 'x'),
      sliceKey('1  a /b', 1, 'x'),
      sliceKey('1  a /b', 0, 'y'),
    ];
    assert.equal(new Set(keys).size, keys.length);
    for (const key of keys) assert.match(key, /\n/);
  });
});
