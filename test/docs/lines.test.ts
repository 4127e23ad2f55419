/** Documents are wrapped at 120 characters, so that a changed word is a changed line. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { overlongLines, wrapMarkdown } from '../support/docs/wrap-markdown.ts';
import { wrappedDocuments } from '../support/docs/wrapped-documents.ts';

const CASES: readonly (readonly [name: string, text: string, wrapped: string])[] = [
  ['a paragraph', 'one two three four', 'one two\nthree four'],
  ['a list item, with its indent', '- one two three', '- one two\n  three'],
  ['a numbered item', '1. one two three', '1. one two\n   three'],
  ['the second paragraph of an item', '- one\n\n  two three four', '- one\n\n  two three\n  four'],
  ['a code span, which stays whole', 'one two `three four`', 'one two\n`three four`'],
  ['a dash, which must not begin a line', 'one two th - four', 'one two th -\nfour'],
  ['a table, which is kept', '| one two three |', '| one two three |'],
  ['code, which is kept', '```\none two three\n```', '```\none two three\n```'],
  ['a paragraph of short lines, which is kept', 'one\ntwo', 'one\ntwo'],
  ['a hard line break, which is kept', 'one two three  \nfour', 'one two three  \nfour'],
];

describe('lines of documents', () => {
  for (const [name, text, wrapped] of CASES) {
    test(`the script wraps ${name}`, () => {
      assert.equal(wrapMarkdown(text, 11), wrapped);
      assert.equal(wrapMarkdown(wrapped, 11), wrapped);
    });
  }

  test('no line of a document is longer than 120 characters (node test/support/docs/write-wrapped-docs.ts)', () => {
    const long = wrappedDocuments().flatMap((file) =>
      overlongLines(readFileSync(file, 'utf8')).map((line) => `${file}:${line}`),
    );
    assert.deepEqual(long, []);
  });
});
