/** bin/causeway.js: runs on the Node it is given when that is recent, else on the bundled one, and says what is missing. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { eventually } from './support/eventually.ts';
import { needs, obtain } from './support/needs.ts';
import { COMMAND, isAlive, runCommand, spawnCommand } from './support/service.ts';
import { temporaryFolder } from './support/temporary.ts';

const SERVE = ['serve', '--roles', 'control', '--control-listen', '127.0.0.1:0', '--metrics-listen', '127.0.0.1:0'];

test('the command is executable and shows its version', (t) => {
  const version = execFileSync(COMMAND, ['--version'], { encoding: 'utf8', cwd: temporaryFolder(t) });
  assert.equal(version, `${JSON.parse(readFileSync(join(dirname(COMMAND), '..', 'package.json'), 'utf8')).version}\n`);
});

test('the command works through a link to it', (t) => {
  const link = join(temporaryFolder(t), 'causeway');
  symlinkSync(COMMAND, link);
  assert.match(execFileSync(link, ['--help'], { encoding: 'utf8' }), /serve/);
});

test('an old Node hands over to the bundled one: arguments, exit code', needs('oldNode'), async (t) => {
  const good = await runCommand(t, ['config', '--edge-id', 'a b'.slice(0, 1), '--json'], oldNodeOption());
  assert.equal(good.code, 0);
  assert.match(good.stdout, /"value": "a",\n\s+"source": "--edge-id"/);
  const bad = await runCommand(t, ['config', '--edge-id', ''], oldNodeOption());
  assert.deepEqual([bad.code, bad.stderr.split('\n').length], [1, 2]);
});

test('an old Node passes signals on and waits for the end', needs('oldNode'), async (t) => {
  const command = spawnCommand(t, SERVE, oldNodeOption());
  await eventually('it is ready', () => command.stdout().includes('causeway is ready'));
  command.child.kill('SIGTERM');
  assert.equal(await command.exit, 0);
});

test('when the launcher is killed the service ends', needs('oldNode', 'pgrep'), async (t) => {
  const command = spawnCommand(t, SERVE, oldNodeOption());
  await eventually('it is ready', () => command.stdout().includes('causeway is ready'));
  const pid = Number(execFileSync(obtain('pgrep'), ['-P', String(command.child.pid)], { encoding: 'utf8' }));
  assert.equal(isAlive(pid), true);
  command.child.kill('SIGKILL');
  await eventually('the service has ended', () => !isAlive(pid));
});

test('an old Node without the bundled one says what is needed', needs('oldNode'), (t) => {
  const checkout = temporaryFolder(t);
  mkdirSync(join(checkout, 'bin'));
  cpSync(COMMAND, join(checkout, 'bin', 'causeway.js'));
  assert.throws(
    () => execFileSync(obtain('oldNode'), [join(checkout, 'bin', 'causeway.js')], { encoding: 'utf8', stdio: 'pipe' }),
    { status: 1, stderr: /^causeway needs Node 26 or later, and this is Node \d.*\nRun "npm ci" in .*\n$/ },
  );
});

function oldNodeOption(): { readonly node: string } {
  return { node: obtain('oldNode') };
}
