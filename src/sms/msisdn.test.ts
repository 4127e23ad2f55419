import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseMsisdn } from './msisdn.ts';

const ROWS: readonly [string, string | undefined, string | undefined][] = [
  // text, E.164, E.164 with bare international numbers
  ['13800138000', '+8613800138000', '+8613800138000'],
  ['8613800138000', '+8613800138000', '+8613800138000'],
  ['+8613800138000', '+8613800138000', '+8613800138000'],
  ['008613800138000', '+8613800138000', '+8613800138000'],
  ['14900138000', '+8614900138000', '+8614900138000'],
  ['17900138000', '+8617900138000', '+8617900138000'],
  ['12800138000', undefined, undefined],
  ['1380013800', undefined, undefined],
  ['138001380000', undefined, undefined],
  ['13800138000x', undefined, undefined],
  [' 13800138000', undefined, undefined],
  ['138-0013-8000', undefined, undefined],
  ['１３８００１３８０００', undefined, undefined],
  ['+862012345678', undefined, undefined],
  ['+85261234567', '+85261234567', '+85261234567'],
  ['0085261234567', '+85261234567', '+85261234567'],
  ['85261234567', undefined, '+85261234567'],
  ['+852112', undefined, undefined],
  ['+44 7911 123456', undefined, undefined],
  ['+447911123456', '+447911123456', '+447911123456'],
  ['+8613800138000\n', undefined, undefined],
  ['', undefined, undefined],
  ['+', undefined, undefined],
];

for (const [text, plain, bare] of ROWS)
  test(`the number ${JSON.stringify(text)} is read`, () => {
    assert.equal(e164Of(text, false), plain);
    assert.equal(e164Of(text, true), bare);
  });

test('an accepted number is a number, and is accepted again as the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'+0123456789 -x'), maxLength: 18 }), (text) => {
      const e164 = e164Of(text, true);
      if (e164 === undefined) return;
      assert.match(e164, /^\+[1-9]\d{6,14}$/);
      assert.equal(e164Of(e164, false), e164);
    }),
  );
});

function e164Of(text: string, bareInternational: boolean): string | undefined {
  const number = parseMsisdn(text, { bareInternational });
  return number.kind === 'number' ? number.e164 : undefined;
}
