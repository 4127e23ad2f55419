import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { filesToRun } from './files-to-run.ts';

const ROOT = resolve(import.meta.dirname, '../..');

test('files that are named are run, else all of the short ones or of the long ones', () => {
  const all = filesToRun([], ROOT);
  assert.ok(all.length > 100 && all.every((file) => file.endsWith('.test.ts')));
  const long = filesToRun(['--soak'], ROOT);
  assert.ok(long.length > 1 && long.every((file) => file.endsWith('.soak.ts')));
  assert.deepEqual(filesToRun(['--soak', 'test/soak/store.soak.ts'], ROOT), ['test/soak/store.soak.ts']);
  assert.deepEqual(filesToRun(['a.test.ts', 'b.test.ts'], ROOT), ['a.test.ts', 'b.test.ts']);
});
