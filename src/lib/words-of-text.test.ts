import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { endInText, endOfText, wordsFor, writeText } from './words-of-text.ts';

describe('a text among words', () => {
  const text = fc.array(fc.constantFrom(0, 1, 127, 128, 255), { maxLength: 18 });

  test('law: is found where, and only where, bytes begin with it', () => {
    fc.assert(
      fc.property(text, text, text, fc.nat({ max: 3 }), fc.boolean(), (before, written, other, at, isSame) => {
        const words = new Int32Array(at + wordsFor(18) + 1).fill(-5);
        writeText(words, at, Uint8Array.from(before), 0, before.length);
        writeText(words, at, Uint8Array.from([9, ...written, 9]), 1, 1 + written.length);
        const asked = [...(isSame ? written : []), ...other];
        const begins = written.length > 0 && written.every((byte, i) => asked[i] === byte);
        for (const behind of [[], [9, 9, 9, 9]]) {
          const bytes = Uint8Array.from([9, 9, ...asked, ...behind]);
          const end = endOfText(words, at, bytes, 2, 2 + asked.length);
          assert.equal(end, begins ? 2 + written.length : -1);
        }
        const asText = String.fromCharCode(...asked);
        assert.equal(endInText(words, at, asText), begins ? written.length : -1);
        const isOther = asText.replace(/^./s, (first) => String.fromCharCode(first.charCodeAt(0) + 256));
        assert.equal(endInText(words, at, isOther), -1);
        assert.deepEqual([...words.subarray(0, at), words.at(-1)], [...Array<number>(at).fill(-5), -5]);
      }),
      { numRuns: 500 },
    );
  });
});
