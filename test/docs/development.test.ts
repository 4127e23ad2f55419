/** The documents for developers name files, tables and states as they are. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { TABLE_NAMES } from '#db/export/tables.ts';
import { PART_EVENTS } from '#model/sms-part.ts';
import { readDecisions } from '../support/docs/decisions-index.ts';

const ROOT = join(import.meta.dirname, '../..');
/** A path in backticks, with at least one folder. */
const SOURCE_FILE = /`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|md|js|sh))`/g;
/** Paths of this page are relative to `src/edge/`. */
const EDGE_PAGE = 'docs/development/edge.md';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

describe('documents for developers', () => {
  test('every file that docs/development names exists', () => {
    const named = globSync('docs/development/*.md', { cwd: ROOT }).flatMap((file) =>
      [...read(file).matchAll(/`((?:src|test|docs|bench)\/[\w./-]*)`/g)].map(([, path = '']) => [file, path] as const),
    );
    assert.ok(named.length > 60);
    assert.deepEqual(
      named.filter(([, path]) => !existsSync(join(ROOT, path))),
      [],
    );
  });

  test('every source file that a document names exists, unless a replaced record names it', () => {
    const ofTheirTime = ['CHANGELOG.md', 'docs/benchmarks-history.md', ...replacedRecords()];
    const documents = globSync(['docs/**/*.md', '*.md'], { cwd: ROOT }).filter((file) => !ofTheirTime.includes(file));
    const rooms = globSync('src/*/', { cwd: ROOT }).map((room) => basename(room));
    const tops = ['src', 'test', 'bench', 'docs', 'bin', ...rooms];
    const named = documents.flatMap((file) =>
      [...read(file).matchAll(SOURCE_FILE)].map(([, path = '']) => [file, path] as const),
    );
    const checked = named.filter(([, path]) => tops.includes(path.split('/')[0] ?? ''));
    assert.ok(checked.length > 300);
    const missing = checked.filter(([file, path]) => {
      const bases = file === EDGE_PAGE ? ['', 'src', 'src/edge'] : ['', 'src'];
      return !bases.some((base) => existsSync(join(ROOT, base, path)));
    });
    assert.deepEqual(missing, []);
  });

  test('README.md links to every page of docs', () => {
    const readme = read('README.md');
    const pages = globSync('docs/*.md', { cwd: ROOT }).filter((page) => page !== 'docs/benchmarks-history.md');
    assert.ok(pages.length > 15);
    assert.deepEqual(
      pages.filter((page) => !readme.includes(`](${page})`)),
      [],
    );
  });

  test('ARCHITECTURE.md names every table of the database, and no other', () => {
    const [, diagram = '', prose = ''] = /erDiagram\n(.*?)```(.*?)\n## /s.exec(read('ARCHITECTURE.md')) ?? [];
    const drawn = [...diagram.matchAll(/^ {2}(\w+) \S+ (\w+) :/gm)].flatMap(([, a = '', b = '']) => [a, b]);
    const listed = [...prose.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name);
    assert.deepEqual([...new Set([...drawn, ...listed])].toSorted(), TABLE_NAMES.toSorted());
  });

  test('ARCHITECTURE.md draws every transition of an SMS part, and no other', () => {
    const drawn = [...read('ARCHITECTURE.md').matchAll(/^ {2}(\w+) --> (\w+):/gm)].map(
      ([, from, to]) => `${from} ${to}`,
    );
    const possible = Object.values(PART_EVENTS).flatMap(({ from, to }) => from.map((state) => `${state} ${to}`));
    assert.deepEqual(drawn.toSorted(), [...new Set(possible)].toSorted());
  });
});

/** Records that say below their title which one replaced them; they name files as they were. */
function replacedRecords(): string[] {
  return readDecisions()
    .filter(({ isReplaced }) => isReplaced)
    .map(({ file }) => `docs/decisions/${file}`);
}
