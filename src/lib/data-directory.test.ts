import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { identify, openDataDirectory } from './data-directory.ts';

test('a directory is created closed to others, and an open one is closed', (t) => {
  const folder = temporaryFolder(t);
  const made = openDataDirectory(join(folder, 'a', 'b'), { make: true });
  assert.deepEqual([made.kind, statSync(join(folder, 'a', 'b')).mode & 0o777], ['directory', 0o700]);
  mkdirSync(join(folder, 'open'));
  chmodSync(join(folder, 'open'), 0o755);
  const closed = openDataDirectory(join(folder, 'open'), { make: true });
  assert.equal(closed.kind === 'directory' && closed.wasOpen, true);
  assert.equal(statSync(join(folder, 'open')).mode & 0o777, 0o700);
});

test('a second holder is refused until the first releases the lock', (t) => {
  const folder = temporaryFolder(t);
  const first = openDataDirectory(folder, { make: true });
  assert.equal(openDataDirectory(folder, { make: true }).kind, 'inUse');
  if (first.kind === 'directory') first.lock[Symbol.dispose]();
  assert.equal(openDataDirectory(folder, { make: true }).kind, 'directory');
});

test('the lock of a killed process is free', async (t) => {
  const folder = temporaryFolder(t);
  const module = join(import.meta.dirname, 'data-directory.ts');
  const script = `import { openDataDirectory } from ${JSON.stringify(module)};
    globalThis.held = openDataDirectory(${JSON.stringify(folder)}, { make: true }); console.log(held.kind); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [said] = await once(child.stdout, 'data');
  assert.equal(String(said).trim(), 'directory');
  assert.equal(openDataDirectory(folder, { make: true }).kind, 'inUse');
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(openDataDirectory(folder, { make: true }).kind, 'directory');
});

test('a place where no directory can be is a readable error', (t) => {
  const file = join(temporaryFolder(t), 'file');
  writeFileSync(file, '');
  assert.equal(openDataDirectory(join(file, 'data'), { make: true }).kind, 'unusable');
});

test('a directory of another user is refused and left as it is', (t) => {
  for (const names of [
    ['letter.txt'],
    ['lock', 'partial'],
    ['run', 'logs'],
    ['first-token'],
    ['lock', 'run', 'notes'],
  ]) {
    const folder = folderWith(t, names);
    const { kind } = openDataDirectory(folder, { make: true });
    assert.deepEqual([kind, openDataDirectory(folder, { make: false }).kind], ['unusable', 'unusable'], String(names));
    assert.deepEqual([statSync(folder).mode & 0o777, readdirSync(folder)], [0o755, names.toSorted()]);
  }
});

test('an installation is recognised by its database, by its folders, or by holding nothing else', (t) => {
  for (const names of [['causeway.db', 'notes'], ['edge', 'lock', 'logs', 'mine', 'run'], ['lock', 'run'], ['lock']])
    assert.equal(openDataDirectory(folderWith(t, names), { make: false }).kind, 'directory', String(names));
  assert.equal(openDataDirectory(folderWith(t, ['lost+found']), { make: true }).kind, 'directory');
});

test('a missing directory is created only if it is wanted', (t) => {
  const folder = join(temporaryFolder(t), 'none');
  assert.deepEqual([openDataDirectory(folder, { make: false }).kind, existsSync(folder)], ['absent', false]);
  mkdirSync(folder);
  assert.deepEqual([openDataDirectory(folder, { make: false }).kind, readdirSync(folder)], ['absent', []]);
});

test("the lock is its owner's, and a copy of the directory is another one", (t) => {
  const folder = join(temporaryFolder(t), 'data');
  openDataDirectory(folder, { make: true });
  assert.equal(statSync(join(folder, 'lock')).mode & 0o777, 0o600);
  cpSync(folder, `${folder}-copy`, { recursive: true });
  assert.notEqual(identify(folder), identify(`${folder}-copy`));
});

/** Creates a directory that others can access. Names with a dot become files, others folders. */
function folderWith(t: TestContext, names: readonly string[]): string {
  const folder = temporaryFolder(t);
  for (const name of names)
    if (/\.|lock|token/.test(name)) writeFileSync(join(folder, name), '');
    else mkdirSync(join(folder, name));
  chmodSync(folder, 0o755);
  return folder;
}
