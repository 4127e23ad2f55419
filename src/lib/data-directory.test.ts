import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { openDataDirectory } from './data-directory.ts';

test('a directory is made closed to others, and one that was open is closed', (t) => {
  const folder = temporaryFolder(t);
  const made = openDataDirectory(join(folder, 'a', 'b'));
  assert.deepEqual([made.kind, statSync(join(folder, 'a', 'b')).mode & 0o777], ['directory', 0o700]);
  mkdirSync(join(folder, 'open'));
  chmodSync(join(folder, 'open'), 0o755);
  const closed = openDataDirectory(join(folder, 'open'));
  assert.equal(closed.kind === 'directory' && closed.wasOpen, true);
  assert.equal(statSync(join(folder, 'open')).mode & 0o777, 0o700);
});

test('a second holder is refused until the first lets go', (t) => {
  const folder = temporaryFolder(t);
  const first = openDataDirectory(folder);
  assert.equal(openDataDirectory(folder).kind, 'inUse');
  if (first.kind === 'directory') first.lock[Symbol.dispose]();
  assert.equal(openDataDirectory(folder).kind, 'directory');
});

test('the lock of a killed process is free', async (t) => {
  const folder = temporaryFolder(t);
  const module = join(import.meta.dirname, 'data-directory.ts');
  const script = `import { openDataDirectory } from ${JSON.stringify(module)};
    globalThis.held = openDataDirectory(${JSON.stringify(folder)}); console.log(held.kind); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [said] = await once(child.stdout, 'data');
  assert.equal(String(said).trim(), 'directory');
  assert.equal(openDataDirectory(folder).kind, 'inUse');
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(openDataDirectory(folder).kind, 'directory');
});

test('a place where no directory can be is a problem in words', (t) => {
  const file = join(temporaryFolder(t), 'file');
  writeFileSync(file, '');
  assert.equal(openDataDirectory(join(file, 'data')).kind, 'unusable');
});
