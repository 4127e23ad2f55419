import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AmfError, type AmfValue, decodeAmf0, encodeAmf0 } from './amf0.ts';

test('an encoded value is decoded to itself', () => {
  const { value } = fc.letrec<{ value: AmfValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.double(),
      fc.boolean(),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(null, undefined),
      fc.dictionary(fc.string({ minLength: 1 }), tie('value'), { maxKeys: 5, noNullPrototype: false }),
      fc.array(tie('value'), { maxLength: 5 }),
    ),
  }));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 5 }), (values) => {
      assert.deepEqual(plain(decodeAmf0(encodeAmf0(...values))), plain(values));
    }),
    { numRuns: 300, seed: 1 },
  );
});

const ROWS: readonly (readonly [what: string, hex: string, values: readonly AmfValue[]])[] = [
  ['a date, with its time zone', '0b 3ff0000000000000 0000', [1]],
  ['an ECMA array whose count is wrong', '08 00000009 0001 61 0101 000009', [{ a: true }]],
  ['an ECMA array without an end', '08 00000000', [{}]],
  ['an object of a class', '10 0003 616263 0001 61 05 000009', [{ a: null }]],
  ['a long string', '0c 00000002 6869', ['hi']],
  ['XML', '0f 00000002 6869', ['hi']],
  ['what is not supported', '0d', [undefined]],
  ['a key that every object has', '03 0009 5f5f70726f746f5f5f 05 000009', [Object.fromEntries([['__proto__', null]])]],
];

for (const [what, hex, values] of ROWS)
  test(`AMF0 decodes ${what}`, () => {
    assert.deepEqual(plain(decodeAmf0(bytesOf(hex))), plain(values));
  });

const BAD: readonly (readonly [what: string, hex: string])[] = [
  ['a number that ends too soon', '00 3ff000'],
  ['a string that ends too soon', '02 0009 61'],
  ['a long string of 4 GiB', '0c ffffffff 61'],
  ['an array of 4 billion values', '0a ffffffff'],
  ['AMF3', '11 06'],
  ['a type that does not exist', 'ff'],
  ['arrays 40 deep', '0a00000001 '.repeat(40)],
  ['5,000 values', '05'.repeat(5000)],
  ['5,000 values in an object', `03${'000161 05'.repeat(5000)}000009`],
];

for (const [what, hex] of BAD)
  test(`AMF0 refuses ${what}`, () => {
    assert.throws(() => decodeAmf0(bytesOf(hex)), AmfError);
  });

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex');
}

/** Prototypes do not count, members do. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}
