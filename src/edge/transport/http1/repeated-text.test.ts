import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RepeatedText } from './repeated-text.ts';

test('a text is decoded anew if, and only if, its bytes differ', () => {
  const made: string[] = [];
  const text = new RepeatedText((value) => {
    made.push(value);
    return value;
  });
  const texts = ['', 'abc', 'abc', 'abd', 'ab', 'abcdef', 'abc', '', 'abc', '\u00e9'];
  for (const value of texts) {
    const bytes = Buffer.from(`xx${value}yy`, 'latin1');
    assert.equal(text.read(bytes, 2, 2 + value.length), value);
    bytes.fill(0);
  }
  const long = Buffer.alloc(2_000, 'x');
  for (let i = 0; i < 2; i++) assert.equal(text.read(long, 0, 2_000).length, 2_000);
  assert.equal(text.read(Buffer.from('\u00e9', 'latin1'), 0, 1), '\u00e9');
  assert.deepEqual(made.splice(-2), Array(2).fill('x'.repeat(2_000)));
  assert.deepEqual(made, ['', 'abc', 'abd', 'ab', 'abcdef', 'abc', '', 'abc', '\u00e9']);
});
