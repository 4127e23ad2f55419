/** The word lint of `CONTRIBUTING.md`, "How we write": in no room may the number of its findings rise. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BASELINE_FILE, countWords, findWords, readBaseline } from './support/docs/word-count.ts';
import { lintWords } from './support/docs/word-lint.ts';

const FOUND: readonly (readonly [code: string, kinds: readonly string[]])[] = [
  ['/** Of the ring. */', ['opening']],
  ['/**\n * By connector, in their order.\n */', ['opening']],
  ['/** They are claimed. */', ['opening']],
  ['/** Id of the key in the key ring. */', []],
  ['/** What a certificate is. */', []],
  ['/** Per-process seed. */', []],
  ['/** Waits for who asks. */', ['relative']],
  ['/** Readers that fell behind; who has it reads on. */', ['relative']],
  ['/** A customer who pays. */', []],
  ['// skips what is\n  // no address', ['relative']],
  ['// It is none that a domain has.', ['relative']],
  ['// Of these there is none.', []],
  ['/** Returns the end of what came. */', ['relative']],
  ["test('nor does a socket', () => {});", ['title']],
  ["test('a client is told of what came', () => {});", ['relative']],
  ["test('a stale response is served', () => {});", []],
  ["const url = 'http://what is none';", []],
];

describe('words of comments and test titles', () => {
  for (const [code, kinds] of FOUND) {
    test(`the word lint finds ${kinds.join(', ') || 'nothing'} in ${JSON.stringify(code)}`, () => {
      assert.deepEqual(
        lintWords(code).map(({ kind }) => kind),
        kinds,
      );
    });
  }

  test('no room has more findings than the baseline; see them with `node test/support/docs/report-words.ts --since main`', () => {
    const baseline = readBaseline();
    const risen = Object.entries(countWords(findWords())).flatMap(([room, counts]) =>
      (['opening', 'relative', 'title'] as const)
        .filter((kind) => counts[kind] > (baseline[room]?.[kind] ?? 0))
        .map((kind) => `${room}: ${kind} ${counts[kind]}, ${BASELINE_FILE} has ${baseline[room]?.[kind] ?? 0}`),
    );
    assert.deepEqual(risen, []);
  });
});
