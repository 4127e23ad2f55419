/** Wraps the documents that have long lines: `node test/support/docs/write-wrapped-docs.ts`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { wrapMarkdown } from './wrap-markdown.ts';
import { wrappedDocuments } from './wrapped-documents.ts';

for (const file of wrappedDocuments()) {
  const text = readFileSync(file, 'utf8');
  const wrapped = wrapMarkdown(text);
  if (wrapped !== text) writeFileSync(file, wrapped);
}
