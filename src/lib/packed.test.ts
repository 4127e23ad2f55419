import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numberAt, packNumbers, packTexts, packUnits, textAt } from './packed.ts';

test('numbers are unpacked as they were packed', () => {
  const units = [0, 1, 0x7f, 0xff, 0x100, 0xd800, 0xdfff, 0xfffe, 0xffff];
  const packed = packUnits(units);
  assert.deepEqual(
    [...units.keys()].map((index) => packed.charCodeAt(index)),
    units,
  );
  const numbers = [0, 0xffff, 0x1_0000, 2 ** 31, 2 ** 32 - 1];
  const pairs = packNumbers(numbers);
  assert.deepEqual(
    [...numbers.keys()].map((index) => numberAt(pairs, index)),
    numbers,
  );
  assert.equal(packUnits([]), '');
});

test('texts are unpacked as they were packed, empty and long ones too', () => {
  const texts = ['', 'a', '', 'x'.repeat(70_000), '图', ''];
  const packed = packTexts(texts);
  assert.deepEqual(
    [...texts.keys()].map((index) => textAt(packed, index)),
    texts,
  );
});
