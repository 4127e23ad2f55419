import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { canNeedSomething, filesToRun } from './files-to-run.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

test('the files that are named are run, or else all of the requested kind', () => {
  const filesOf = (...args: readonly string[]) => filesToRun(args, ROOT).files;
  const all = filesOf();
  assert.ok(all.length > 100 && all.every((file) => file.endsWith('.test.ts')));
  const long = filesOf('--soak');
  assert.ok(long.length > 1 && long.every((file) => file.endsWith('.soak.ts')));
  assert.ok(filesOf('--machines').every((file) => file.endsWith('.machine.ts')));
  const bare = filesOf('--bare');
  assert.ok(bare.every((file) => all.includes(file)));
  assert.deepEqual(
    ['test/edge/tls.test.ts', 'src/model/csr.test.ts', 'src/lib/lru.test.ts', 'test/process/https.test.ts'].map(
      (file) => bare.includes(file),
    ),
    [true, true, false, false],
  );
  assert.deepEqual(filesToRun(['--soak', 'a.soak.ts'], ROOT), { kind: '--soak', files: ['a.soak.ts'] });
  assert.deepEqual(filesToRun(['a.test.ts', 'b.test.ts'], ROOT), { kind: '', files: ['a.test.ts', 'b.test.ts'] });
});

test('a file can need something if it, or a module that it imports, can declare it', () => {
  assert.deepEqual(
    ['test/edge/tls.test.ts', 'test/edge/explain.test.ts', 'src/lib/lru.test.ts'].map((file) =>
      canNeedSomething(file, ROOT),
    ),
    [true, false, false],
  );
});
