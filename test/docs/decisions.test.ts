/** The decision records: their index is up to date, and whatever cites or links one finds it. docs/decisions/0510 */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { citationsOf, decisionsIndex, INDEX_FILE, readDecisions } from '../support/docs/decisions-index.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('decision records', () => {
  test('docs/decisions/README.md is up to date (node test/support/docs/write-decisions-index.ts)', () => {
    assert.equal(readFileSync(INDEX_FILE, 'utf8'), decisionsIndex());
  });

  test('every record has a number of its own, which no page has replaced', () => {
    const numbers = readDecisions().flatMap(({ number, merged }) => [
      number,
      ...merged.filter((old) => old !== number),
    ]);
    assert.deepEqual(numbers.toSorted(), [...new Set(numbers)].toSorted());
  });

  test('every record that is cited exists', () => {
    const known = new Set(readDecisions().map(({ number }) => number));
    const missing = citationsOf().flatMap(({ file, numbers }) =>
      [...numbers].filter((number) => !known.has(number)).map((number) => `${file}: ${number}`),
    );
    assert.deepEqual(missing, []);
  });

  test('every link between documents leads to a file', () => {
    const documents = globSync(['docs/**/*.md', '*.md'], { cwd: ROOT });
    const broken = documents.flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !existsSync(join(ROOT, dirname(file), target)))
        .map((target) => `${file}: ${target}`),
    );
    assert.deepEqual(broken, []);
  });
});
