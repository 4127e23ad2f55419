import assert from 'node:assert/strict';
import { test } from 'node:test';
import { autoOr, byteSize, listOf, oneOf, type Reader, wholeNumber } from './setting-reader.ts';

test('the text of a setting becomes a value, or is refused', () => {
  const number = wholeNumber(1, 10);
  const size = byteSize('1KB', '1GB');
  const list = listOf(oneOf(['a', 'b']), 1, 2);
  const rows: [Reader<unknown>, string, unknown][] = [
    [number, '1', 1],
    [number, '10', 10],
    [number, '11', undefined],
    [number, '1e1', undefined],
    [size, '1024', 1024],
    [size, '2kb', 2048],
    [size, '1 MB', 2 ** 20],
    [size, '2GB', undefined],
    [size, '1TB', undefined],
    [list, 'a, b', ['a', 'b']],
    [list, '', undefined],
    [list, 'a,c', undefined],
    [list, 'a,b,a', undefined],
    [autoOr(number, 7), 'auto', 7],
    [autoOr(number, 7), '3', 3],
  ];
  for (const [reader, text, expected] of rows) assert.deepEqual(reader.safeParse(text).data, expected, text);
});
