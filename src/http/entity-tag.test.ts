import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isStrongMatch, isWeakMatch, parseEntityTags } from './entity-tag.ts';

test('comparison follows the table of RFC 9110 §8.8.3.2', () => {
  const rows: [string, string, boolean, boolean][] = [
    ['W/"1"', 'W/"1"', false, true],
    ['W/"1"', 'W/"2"', false, false],
    ['W/"1"', '"1"', false, true],
    ['"1"', '"1"', true, true],
    ['"1"', '"2"', false, false],
    ['abc', 'abc', false, true],
    ['w/"1"', '"1"', false, false],
    ['"', '"', false, true],
  ];
  for (const [a, b, strong, weak] of rows) {
    assert.equal(isStrongMatch(a, b), strong, `${a} ${b}`);
    assert.equal(isWeakMatch(a, b), weak, `${a} ${b}`);
  }
});

test('a list keeps its tags verbatim; commas inside quotes do not divide', () => {
  const rows: [string, '*' | string[]][] = [
    ['*', '*'],
    [' * ', '*'],
    ['"a"', ['"a"']],
    ['"a", W/"b" ,"c"', ['"a"', 'W/"b"', '"c"']],
    ['"a,b", "c"', ['"a,b"', '"c"']],
    ['abc, "d"', ['abc', '"d"']],
    [', ,"a",', ['"a"']],
    ['"unclosed, "b"', ['"unclosed, "', 'b"']],
    ['', []],
  ];
  for (const [text, expected] of rows) assert.deepEqual(parseEntityTags(text), expected, text);
});

test('law: a list of well-formed tags comes back, and no text makes it throw', () => {
  const tag = fc
    .tuple(fc.boolean(), fc.stringMatching(/^[!#-~\x80-\xff]{0,8}$/))
    .map(([weak, text]) => `${weak ? 'W/' : ''}"${text}"`);
  fc.assert(
    fc.property(fc.array(tag, { minLength: 1 }), (tags) => assert.deepEqual(parseEntityTags(tags.join(', ')), tags)),
  );
  fc.assert(fc.property(fc.string(), (text) => void parseEntityTags(text)));
});
