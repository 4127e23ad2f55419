import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_SMS_UNITS } from '#model/limits.ts';
import { type Split, splitText } from './split.ts';

const text = fc
  .array(
    fc.oneof(
      fc.constantFrom('a', '€', '中', '😀', '👨‍👩‍👧'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 9 }),
    ),
    {
      minLength: 1,
      maxLength: 400,
      size: 'max', // else they are so short that few are cut, and none twice
    },
  )
  .map((pieces) => pieces.join('').replaceAll('\0', '').slice(0, MAX_SMS_UNITS).toWellFormed())
  .filter((it) => it.length > 0);

test('parts joined are the text, each is well formed and fits', () => {
  fc.assert(
    fc.property(text, (it) => {
      const parts = partsOf(splitText(it));
      assert.equal(parts.join(''), it);
      const most = parts.length === 1 ? 70 : 67;
      for (const part of parts) assert.ok(part.isWellFormed() && part.length >= 1 && part.length <= most);
      assert.ok(parts.length >= (it.length <= 70 ? 1 : Math.ceil(it.length / 67)) && parts.length <= 9);
    }),
  );
});

const COUNTS: readonly [string, string, number][] = [
  ['70 units stay whole', '中'.repeat(70), 1],
  ['71 do not', '中'.repeat(71), 2],
  ['letters count like any other', 'a'.repeat(100), 2],
  ['the longest text', '中'.repeat(536), 8],
  ['268 emoji make 9 parts', '😀'.repeat(268), 9],
  ['70 emoji are 140 units: 66 + 66 + 8', '😀'.repeat(70), 3],
  ['152 letters and a euro sign', `${'a'.repeat(152)}€`, 3],
];

for (const [name, it, count] of COUNTS)
  test(`the number of parts: ${name}`, () => {
    assert.equal(partsOf(splitText(it)).length, count);
  });

const INVALID: readonly [string, Split][] = [
  ['', { kind: 'invalid', reason: 'empty' }],
  ['a'.repeat(537), { kind: 'invalid', reason: 'tooLong' }],
  ['a\ud83d', { kind: 'invalid', reason: 'unpaired' }],
  ['\ude00a', { kind: 'invalid', reason: 'unpaired' }],
  ['a\0b', { kind: 'invalid', reason: 'nul' }],
];

for (const [it, expected] of INVALID)
  test(`invalid text: ${expected.kind === 'invalid' ? expected.reason : ''}, ${it.length} units`, () => {
    assert.deepEqual(splitText(it), expected);
  });

function partsOf(split: Split): readonly string[] {
  assert.ok(split.kind === 'parts');
  return split.parts;
}
