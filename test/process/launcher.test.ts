/** bin/causeway.js: runs on the Node it is given when that is recent, else on the bundled one, and says what is missing. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { COMMAND, isAlive, runProcess, spawnCommand } from '../support/process/service.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { type Cleanup, temporaryFolder } from '../support/temporary.ts';

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
  const good = await runProcess(t, ['config', '--edge-id', 'a b'.slice(0, 1), '--json'], oldNodeOption());
  assert.equal(good.code, 0);
  assert.match(good.stdout, /"value": "a",\n\s+"source": "--edge-id"/);
  const bad = await runProcess(t, ['config', '--edge-id', ''], oldNodeOption());
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

test('an old Node says what to install where the bundled one does not run', needs('oldNode'), (t) => {
  const { root } = brokenCheckout(t);
  assert.throws(
    () => execFileSync(obtain('oldNode'), [join(root, 'bin', 'causeway.js')], { encoding: 'utf8', stdio: 'pipe' }),
    {
      status: 127,
      stderr: /libatomic\.so\.1[\s\S]*\ncauseway cannot run .*\nIt needs glibc .*apt-get install libatomic1/,
    },
  );
});

describe('the npm scripts', () => {
  test('npm scripts use the bundled Node if it runs, and restore its link', (t) => {
    const { findNode, link, repair } = brokenCheckout(t);
    repair();
    assert.deepEqual(findNode({}), { status: 0, stderr: '' });
    assert.equal(realpathSync(link), realpathSync(process.execPath));
  });

  test("npm scripts use the machine's own Node if the bundled one does not run, and the bundled one again when it does", (t) => {
    const { findNode, link, repair } = brokenCheckout(t);
    assert.deepEqual(findNode({ node: process.execPath }), { status: 0, stderr: '' });
    assert.equal(existsSync(link), false, 'it hides no other');
    repair();
    assert.equal(findNode({}).status, 0);
    assert.equal(realpathSync(link), realpathSync(process.execPath));
  });

  test('npm scripts say what to install if no Node is new enough', (t) => {
    const { root, findNode } = brokenCheckout(t);
    const old = join(root, 'old-node');
    writeFileSync(old, '#!/bin/sh\necho 20.1.0\n', { mode: 0o755 });
    for (const own of [{}, { node: old }]) {
      const { status, stderr } = findNode(own);
      assert.equal(status, 1);
      assert.match(stderr, /needs Node 26[\s\S]*libatomic\.so\.1[\s\S]*apt-get install libatomic1\./);
    }
  });

  test('npm scripts all look for Node first', () => {
    const { scripts } = JSON.parse(readFileSync(join(dirname(COMMAND), '..', 'package.json'), 'utf8'));
    // Those that are called by others.
    const inner = /^(check:.*|test:all)$/;
    for (const [name, script] of Object.entries<string>(scripts))
      if (!inner.test(name) && name !== 'format') assert.match(script, /^sh bin\/find-node\.sh && /, name);
  });
});

function oldNodeOption(): { readonly node: string } {
  return { node: obtain('oldNode') };
}

/** A checkout whose bundled Node misses a library, with a link to it as npm makes one. */
function brokenCheckout(t: Cleanup) {
  const root = temporaryFolder(t);
  for (const name of ['causeway.js', 'find-node.sh'])
    cpSync(join(dirname(COMMAND), name), join(root, 'bin', name), { recursive: true });
  const folder = join('node_modules', `node-${process.platform}-${process.arch}`, 'bin');
  mkdirSync(join(root, folder), { recursive: true });
  mkdirSync(join(root, 'node_modules', '.bin'));
  const bundled = join(root, folder, 'node');
  const says = 'node: error while loading shared libraries: libatomic.so.1: cannot open shared object file';
  writeFileSync(bundled, `#!/bin/sh\necho "${says}" >&2\nexit 127\n`, { mode: 0o755 });
  const link = join(root, 'node_modules', '.bin', 'node');
  symlinkSync(join('..', `node-${process.platform}-${process.arch}`, 'bin', 'node'), link);
  return {
    root,
    link,
    repair: () => {
      rmSync(bundled);
      symlinkSync(process.execPath, bundled);
      rmSync(link, { force: true });
    },
    /** Finds Node as an npm script does, on a PATH of the checkout's links, a minimal Debian and the machine's own programs. */
    findNode: (own: { readonly node?: string }) => {
      const machine = join(root, 'machine');
      rmSync(machine, { recursive: true, force: true });
      mkdirSync(machine);
      for (const name of ['sh', 'cat', 'dirname', 'ln', 'rm', 'uname'])
        symlinkSync(`/bin/${name}`, join(machine, name));
      if (own.node !== undefined) symlinkSync(own.node, join(machine, 'node'));
      const env = { PATH: [join(root, 'node_modules', '.bin'), machine].join(delimiter) };
      const { status, stderr } = spawnSync('sh', [join(root, 'bin', 'find-node.sh')], { env, encoding: 'utf8' });
      return { status, stderr };
    },
  };
}
