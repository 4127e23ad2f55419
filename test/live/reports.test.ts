/** The table of docs/decisions/0489: every public report that it names has tests that are there. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const RECORD = 'docs/decisions/0489-public-reports-about-live-servers-as-tests.md';
const GROUPS = 12;

test('each public report about live servers has the tests that its record names', () => {
  const rows = readFileSync(join(ROOT, RECORD), 'utf8').matchAll(/^\| (\d+) \| (.+?) \| .+? \| (.+) \|$/gm);
  const groups = new Set<number>();
  for (const [, group, reports = '', cell = ''] of rows) {
    groups.add(Number(group));
    assert.match(reports, /^[\w.-]+\/[\w.-]+#\d+/);
    const files = [...cell.matchAll(/`([^`]+)`((?:,? "[^"]+")+)/g)];
    assert.ok(files.length > 0, `${reports} has no test`);
    for (const [, file = '', names = ''] of files) {
      const text = readFileSync(join(ROOT, file), 'utf8');
      for (const [, name] of names.matchAll(/"([^"]+)"/g))
        assert.ok(text.includes(`'${name}'`), `${file} has no test '${name}'`);
    }
  }
  assert.deepEqual(
    [...groups],
    Array.from({ length: GROUPS }, (_, index) => index + 1),
  );
});
