import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeContent } from './decode-content.ts';

const ROWS: readonly [string, string | undefined][] = [
  ['%E4%BD%A0%E5%A5%BD', '你好'],
  ['a+b%20c%2Bd', 'a b c+d'],
  ['你好，100', '你好，100'],
  ['100%2525', '100%25'],
  ['100%', undefined],
  ['%zz', undefined],
  ['%C3%28', undefined],
  ['%ED%A0%80', undefined],
  ['', ''],
];

for (const [encoded, text] of ROWS)
  test(`content ${JSON.stringify(encoded)} is ${JSON.stringify(text)}`, () => {
    assert.equal(decodeContent(encoded), text);
  });

test('text encoded by a form or a browser is decoded to itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.equal(decodeContent(encodeURIComponent(text)), text);
      assert.equal(decodeContent(new URLSearchParams({ t: text }).toString().slice(2)), text);
    }),
  );
});
