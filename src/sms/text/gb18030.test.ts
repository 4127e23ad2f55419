import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeGb18030 } from './gb18030.ts';

const decoder = new TextDecoder('gb18030', { fatal: true, ignoreBOM: true });

test('the octets that Python writes', () => {
  for (const [text, octets] of [
    ['退订', 'cdcbb6a9'],
    ['TD', '5444'],
    ['【签名】', 'a1bec7a9c3fba1bf'],
    ['€', 'a2e3'],
    ['é', 'a8a6'],
    ['\u0080', '81308130'],
    ['ﾀ', '84319838'],
    ['😀', '9439fc36'],
    ['𠀀', '95328236'],
    ['\u{10ffff}', 'e3329a35'],
  ] as const)
    assert.equal(encodeGb18030(text)?.toString('hex'), octets, text);
});

test('every character of the basic plane comes back, and few cannot be encoded', () => {
  const impossible: number[] = [];
  for (let unit = 0; unit <= 0xffff; unit += 1) {
    const letter = String.fromCharCode(unit);
    const octets = encodeGb18030(letter);
    if (octets === undefined) impossible.push(unit);
    else assert.equal(decoder.decode(octets), letter, unit.toString(16));
  }
  const isExpected = (unit: number) =>
    (unit >= 0xd800 && unit <= 0xdfff) || unit === 0xfffd || (unit >= 0xe000 && unit <= 0xf8ff);
  assert.deepEqual(
    impossible.filter((unit) => !isExpected(unit)).map((unit) => unit.toString(16)),
    [],
  );
});

test('any text comes back, or has an unpaired surrogate or a character of private use', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const octets = encodeGb18030(text);
      if (octets !== undefined) assert.equal(decoder.decode(octets), text);
      else assert.match(text, /[\ud800-\udfff\ufffd\p{Co}]/u);
    }),
    { numRuns: 500 },
  );
  assert.equal(encodeGb18030('a\ud83d'), undefined);
});
