/** What is written twice on purpose: the stages and the reasons, in code and in the documents on the edge. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  BYPASSES,
  DENIALS,
  EDGE_FAULTS,
  ORIGIN_FAILURES,
  OWN_ANSWERS,
  PREFETCH_FAILURES,
  REDIRECTS,
  REQUEST_PROBLEMS,
  SKIPS,
} from '../../src/edge/reasons.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const rows = (path: string) => [...read(path).matchAll(/^\| (.*) \|$/gm)].map(([, cells = '']) => cells.split(' | '));

describe('docs/edge.md', () => {
  test('docs/edge.md names every reason with the words of the code, and no other', () => {
    const documented = rows('docs/edge.md').filter(([status = '']) => /^`[A-Z]+`$/.test(status));
    const expected = [
      ['MISS', SKIPS],
      ['BYPASS', BYPASSES],
      ['REDIRECT', REDIRECTS],
      ['OWN', OWN_ANSWERS],
      ['DENIED', DENIALS],
      ['ERROR', { ...REQUEST_PROBLEMS, ...EDGE_FAULTS, ...ORIGIN_FAILURES }],
    ] as const;
    assert.deepEqual(
      documented,
      expected.flatMap(([status, reasons]): string[][] =>
        Object.entries(reasons).map(([word, text]) => [`\`${status}\``, `\`${word}\``, text]),
      ),
    );
  });

  test('docs/edge.md names every additional reason of a prefetch', () => {
    const documented = rows('docs/edge.md').filter((cells) => cells.length === 2 && /^`\w+`$/.test(cells[0] ?? ''));
    assert.deepEqual(
      documented,
      Object.entries(PREFETCH_FAILURES).map(([word, text]) => [`\`${word}\``, text]),
    );
  });

  const stages = rows('docs/development/edge.md').filter(([number = '']) => /^\d+a?$/.test(number));

  test('docs/development/edge.md has the stages in their order, and each names files that exist', () => {
    assert.deepEqual(
      stages.map(([number]) => number),
      ['1', '2', '3', '3a', '4', '5', '6', '7', '8', '9', '10', '11'],
    );
    for (const [, stage, files = ''] of stages) {
      const names = [...files.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
      assert.ok(names.length > 0, `stage ${stage}`);
      for (const name of names) {
        const path = name.startsWith('#') ? `src/${name.slice(1)}` : `src/edge/${name}`;
        assert.ok(existsSync(join(ROOT, path)), `${stage}: ${path}`);
      }
    }
  });

  test('handle.ts runs the stages in this order', () => {
    const body = read('src/edge/pipeline/handle.ts').split('\nfunction answerRequest')[1] ?? '';
    const marks = [...body.matchAll(/\/\/ (\d[\d, ]*)$/gm)];
    const numbers = marks.flatMap(([, list = '']) => list.split(', ').map(Number));
    assert.deepEqual(
      [...new Set(numbers)].toSorted((a, b) => a - b),
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
    assert.deepEqual(numbers.slice(0, 5), [1, 2, 3, 4, 5]);
  });
});
