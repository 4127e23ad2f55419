/** `causeway install --root`: the tree of a package, its units as systemd reads them, and what a second run changes. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { installFile, installPrivateFolder } from '#roles/install/files.ts';
import { install } from '#roles/install/install.ts';
import { packagesOf } from '#roles/install/packages.ts';
import { createUnits } from '#roles/install/units.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('an installation has the program without its tests, settings, units and the command', async (t) => {
  const { source, write } = makeSource(t);
  write('src/some.test.ts', '');
  const root = temporaryFolder(t);
  const order = { source, root, version: '1.0.0', hasSocket: true };
  const { pieces } = await install(order);
  assert.ok(pieces.every(({ state }) => state === 'made'));
  const paths = [
    'opt/causeway/1.0.0',
    'opt/causeway/current → 1.0.0',
    'usr/bin/causeway',
    'etc/causeway/causeway.toml',
  ];
  for (const path of paths)
    assert.ok(
      pieces.some(({ what }) => what === join(root, path)),
      path,
    );
  assert.equal(existsSync(join(root, 'opt/causeway/current/src/some.test.ts')), false);
  const modeOf = (path: string) => statSync(join(root, path)).mode & 0o777;
  assert.deepEqual(
    ['opt/causeway/1.0.0/src/main.ts', 'opt/causeway/1.0.0/src', 'usr/bin/causeway', 'etc/causeway/causeway.toml'].map(
      modeOf,
    ),
    [0o644, 0o755, 0o755, 0o640],
  );
  writeFileSync(join(root, 'etc/causeway/causeway.toml'), 'edge-id = "mine"\n');
  const again = await install(order);
  assert.deepEqual(
    again.pieces.filter(({ state }) => state !== 'kept'),
    [],
  );
  assert.equal(readFileSync(join(root, 'etc/causeway/causeway.toml'), 'utf8'), 'edge-id = "mine"\n');
  const { pieces: changed } = await install({ ...order, hasSocket: false });
  assert.deepEqual(
    changed.filter(({ state }) => state !== 'kept'),
    [{ state: 'changed', what: join(root, 'usr/lib/systemd/system/causeway.service') }],
  );
});

test('a private folder that is there is closed, and has to belong to the service', (t) => {
  const folder = join(temporaryFolder(t), 'data');
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  assert.equal(installPrivateFolder(folder, { uid, gid }).state, 'made');
  assert.equal(installPrivateFolder(folder, { uid, gid }).state, 'kept');
  chmodSync(folder, 0o755);
  assert.equal(installPrivateFolder(folder, { uid, gid }).state, 'changed');
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.throws(
    () => installPrivateFolder(folder, { uid: uid + 1, gid }),
    new RegExp(`^Error: ${folder} belongs to another user \\(${uid}\\): chown -R ${uid + 1}:${gid} ${folder}, and`),
  );
});

test('a file is written through no link that somebody else has put in its way', (t) => {
  const [folder, elsewhere] = [temporaryFolder(t), join(temporaryFolder(t), 'file')];
  writeFileSync(elsewhere, 'kept');
  symlinkSync(elsewhere, join(folder, 'unit.new'));
  assert.equal(installFile(join(folder, 'unit'), 'text').state, 'made');
  assert.deepEqual([readFileSync(elsewhere, 'utf8'), readFileSync(join(folder, 'unit'), 'utf8')], ['kept', 'text']);
});

test('the command runs programs of the system alone, whatever PATH says', async (t) => {
  const [root, own] = [temporaryFolder(t), temporaryFolder(t)];
  await install({ source: makeSource(t).source, root, version: '1.0.0', hasSocket: true });
  for (const name of ['id', 'setpriv'])
    writeFileSync(join(own, name), `#!/bin/sh\necho > ${own}/was-run\n`, { mode: 0o755 });
  const env = { PATH: `${own}:/usr/bin:/bin` };
  const { status } = spawnSync('sh', [join(root, 'usr/bin/causeway'), 'config'], { env });
  assert.notEqual(status, 0, 'there is no program here');
  assert.deepEqual(readdirSync(own).sort(), ['id', 'setpriv']);
});

test('systemd finds nothing wrong with the units', needs('systemdAnalyze'), async (t) => {
  const root = temporaryFolder(t);
  await install({ source: makeSource(t).source, root, version: '1.0.0', hasSocket: true });
  const folder = join(root, 'usr/lib/systemd/system');
  const units = Object.keys(createUnits({ node: '', hasSocket: true })).map((name) => join(folder, name));
  // Programs are looked for on this machine.
  for (const unit of units)
    writeFileSync(unit, readFileSync(unit, 'utf8').replaceAll('/opt/causeway', join(root, 'opt/causeway')));
  const args = ['verify', '--man=no', ...units];
  const { status, stdout, stderr } = spawnSync(obtain('systemdAnalyze'), args, { encoding: 'utf8' });
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
});

test('the services are hardened: their exposure is below 3 of 10', needs('systemdAnalyze'), (t) => {
  for (const hasSocket of [true, false]) {
    const folder = temporaryFolder(t);
    for (const [name, text] of Object.entries(createUnits({ node: '/usr/bin/node', hasSocket }))) {
      if (!name.endsWith('.service')) continue;
      writeFileSync(join(folder, name), text);
      const args = ['security', '--offline=true', '--threshold=29', '--no-pager', join(folder, name)];
      const { status, stdout } = spawnSync(obtain('systemdAnalyze'), args, { encoding: 'utf8' });
      assert.equal(status, 0, stdout);
    }
  }
});

test('the service has a capability only where it opens low ports itself', () => {
  const [own, held] = [false, true].map((hasSocket) => createUnits({ node: '/usr/bin/node', hasSocket }));
  assert.match(own?.['causeway.service'] ?? '', /^AmbientCapabilities=CAP_NET_BIND_SERVICE$/m);
  assert.equal(own?.['causeway.socket'], undefined);
  assert.doesNotMatch(held?.['causeway.service'] ?? '', /CAP_/);
  assert.match(held?.['causeway.service'] ?? '', /^Requires=causeway\.socket$/m);
  assert.match(held?.['causeway.socket'] ?? '', /^ListenStream=80\nListenStream=443$/m);
});

test('another release is a folder of its own, also under the same version, and the link leads to it', async (t) => {
  const { source, write, lock } = makeSource(t);
  const root = temporaryFolder(t);
  lock({ 'node_modules/absent': {} });
  const order = { source, root, hasSocket: true };
  const linked = async (version: string) => {
    await install({ ...order, version });
    return readlinkSync(join(root, 'opt/causeway/current'));
  };
  await assert.rejects(linked('1.0.0'), /absent is missing: run "npm ci" in /);
  lock({ 'node_modules/of-another-machine': { optional: true } });
  assert.equal(await linked('1.0.0'), '1.0.0');
  assert.equal(existsSync(join(root, 'opt/causeway/1.0.0/node_modules/needed/index.js')), true);
  assert.equal(existsSync(join(root, 'opt/causeway/1.0.0/node_modules/checker')), false);
  write('src/main.ts', 'two');
  assert.match(await linked('1.0.0'), /^1\.0\.0-[0-9a-f]{8}$/);
  assert.equal(await linked('1.1.0'), '1.1.0');
  write('src/main.ts', 'one');
  assert.equal(await linked('1.0.0'), '1.0.0');
  assert.equal(readFileSync(join(root, 'opt/causeway/1.0.0/src/main.ts'), 'utf8'), 'one');
});

test('an installation has the console as it is built, and is made also if it cannot be built', async (t) => {
  const { source, write } = makeSource(t);
  const root = temporaryFolder(t);
  const page = join(root, 'opt/causeway/current/console/dist/index.html');
  const build = async (program: string) => {
    write('console/build.js', program);
    await install({ source, root, version: '1.0.0', hasSocket: true });
  };
  await build('process.exitCode = 1;');
  assert.equal(existsSync(page), false);
  await build(`const { mkdirSync, writeFileSync } = require('node:fs');
    mkdirSync(__dirname + '/dist');
    writeFileSync(__dirname + '/dist/index.html', 'built');`);
  assert.equal(readFileSync(page, 'utf8'), 'built');
  assert.equal(existsSync(join(root, 'opt/causeway/current/console/build.js')), false);
});

test('an installation goes without the packages that only the console needs', (t) => {
  const { source, lock, write } = makeSource(t);
  lock({
    '': { dependencies: { react: '1', needed: '1', vite: '1' } },
    'node_modules/needed': { dependencies: { shared: '1' } },
    'node_modules/react': { dependencies: { shared: '1', scheduler: '1' } },
    'node_modules/vite': { optionalDependencies: { native: '1' }, peerDependencies: { scheduler: '1' } },
    'node_modules/scheduler': {},
    'node_modules/shared': {},
    'node_modules/native': { optional: true },
  });
  for (const name of ['react', 'scheduler', 'shared', 'vite', 'native']) write(`node_modules/${name}/index.js`, '');
  const node = `node_modules/node-${process.platform}-${process.arch}`;
  assert.deepEqual(packagesOf(source).toSorted(), ['node_modules/needed', node, 'node_modules/shared'].toSorted());
  const real = packagesOf(join(import.meta.dirname, '../..'));
  for (const name of ['vite', 'rollup', 'react-dom', 'scheduler'])
    assert.ok(!real.includes(`node_modules/${name}`), name);
  for (const name of ['zod', 'fastify', 'pg']) assert.ok(real.includes(`node_modules/${name}`), name);
});

/** A checkout with a program of one file, a package that it runs with, and one that only its tests need. */
function makeSource(t: TestContext) {
  const source = temporaryFolder(t);
  const write = (path: string, text: string, mode = 0o600) => {
    mkdirSync(dirname(join(source, path)), { recursive: true });
    writeFileSync(join(source, path), text, { mode });
  };
  const node = `node_modules/node-${process.platform}-${process.arch}`;
  const packages = {
    '': {},
    'node_modules/needed': {},
    'node_modules/checker': { dev: true },
    [node]: { optional: true },
  };
  const lock = (more: object) => write('package-lock.json', JSON.stringify({ packages: { ...packages, ...more } }));
  write('src/main.ts', 'one');
  write('package.json', '{}');
  write('node_modules/needed/index.js', '');
  write('node_modules/checker/index.js', '');
  write(`${node}/bin/node`, '#!/bin/sh\n', 0o700);
  lock({});
  return { source, write, lock };
}
