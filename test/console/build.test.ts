/** The build of the console inside `npm start`: when it happens, what it leaves, and that nothing holds the service up. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { copyBuilt, copyCheckout } from '../support/console/checkout.ts';
import { eventually } from '../support/eventually.ts';
import { surroundings } from '../support/process/service.ts';
import { type Cleanup, temporaryFolder } from '../support/temporary.ts';

const BUILT = { status: 0, said: 'Building the console …\n' };
const NOTHING_TO_DO = { status: 0, said: '' };

describe('the build of the console', () => {
  test('an unchanged checkout is left alone, and Vite is not loaded', (t) => {
    const { folder, build } = copyBuilt(t);
    const { ino } = statSync(join(folder, 'console/dist'));
    unlinkSync(join(folder, 'node_modules'));
    writeFileSync(join(folder, 'console/some.test.ts'), 'is no part of it');
    assert.deepEqual(build(), NOTHING_TO_DO);
    assert.equal(statSync(join(folder, 'console/dist')).ino, ino);
    writeFileSync(join(folder, 'src/contract/more.ts'), '/** Changed. */\n');
    const { status, said } = build();
    assert.equal(status, 1);
    assert.match(said, /^The console was not built: Cannot find package 'vite'/, 'packages are missing');
    assert.equal(statSync(join(folder, 'console/dist')).ino, ino, 'the former one is served');
  });

  test('a change is built once, and nothing of the former build or of one that was killed is left', (t) => {
    const { folder, build } = copyBuilt(t);
    const before = entryOf(folder);
    appendFileSync(join(folder, 'console/main.tsx'), "document.documentElement.dataset.release = 'next';\n");
    mkdirSync(join(folder, 'console/dist.4194305/assets'), { recursive: true }); // beyond every process id
    assert.deepEqual([build(), build()], [BUILT, NOTHING_TO_DO]);
    const files = filesOf(folder);
    assert.notEqual(entryOf(folder), before);
    assert.deepEqual([files.has(entryOf(folder)), files.has(before)], [true, false]);
    assert.deepEqual(globSync('console/dist.*', { cwd: folder }), []);
  });

  test('a mistake in the sources is reported, and the former build stays', (t) => {
    const { folder, build } = copyBuilt(t);
    const before = filesOf(folder);
    writeFileSync(join(folder, 'console/main.tsx'), 'const = 1;\n');
    const { status, said } = build();
    assert.equal(status, 1);
    assert.match(said, /The console was not built: [\s\S]*main\.tsx/);
    assert.deepEqual(filesOf(folder), before);
  });

  test('a checkout that cannot be written is not built, and says so', (t) => {
    const { folder, build } = copyCheckout(t);
    chmodSync(join(folder, 'console'), 0o555);
    // Root may write everywhere, unless it gives that up.
    const asOthers = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override'] : [];
    const { status, said } = build(asOthers);
    chmodSync(join(folder, 'console'), 0o755); // so that it can be removed
    assert.equal(status, 1);
    assert.equal(said, `The console was not built: EACCES: permission denied, access '${join(folder, 'console')}'\n`);
    assert.deepEqual(globSync('console/dist*', { cwd: folder }), []);
  });

  test('npm start builds without scripts of packages, the same bytes in any checkout, and starts also if it cannot build', {
    timeout: 360_000,
  }, async (t) => {
    const elsewhere = filesOf(copyBuilt(t).folder);
    const { folder } = copyCheckout(t, ['bin', 'src']);
    const start = async () => {
      const service = spawnStart(t, folder);
      await eventually('it is ready', () => service.stdout().includes('causeway is ready'), 150_000);
      const url = /^console +(\S+)$/m.exec(service.stdout())?.[1] ?? '';
      const page = await fetch(url, { headers: { accept: 'text/html' } });
      const found = { status: page.status, text: await page.text(), said: service.stderr() };
      service.child.kill('SIGTERM');
      await service.exit;
      return found;
    };
    const built = await start();
    assert.equal(built.status, 200);
    assert.match(built.text, /<script type="module"/);
    const files = filesOf(folder);
    assert.deepEqual([...files.keys()], [...elsewhere.keys()]);
    for (const [path, bytes] of elsewhere) assert.ok(files.get(path)?.equals(bytes), path);
    assert.ok(files.has('index.html') && files.has('index.html.br') && files.has('.stamp'));
    assert.ok([...files.keys()].some((path) => /^assets\/.*\.js\.gz$/.test(path)));
    rmSync(join(folder, 'console/dist'), { recursive: true });
    writeFileSync(join(folder, 'console/main.tsx'), 'const = 1;\n');
    const failed = await start();
    assert.equal(failed.status, 503);
    assert.match(failed.text, /<code>npm run build<\/code>/);
    assert.match(failed.said, /The console was not built: /);
    assert.equal(failed.said.match(/the console is not built/g)?.length, 1);
  });
});

/** Files of the build by their paths. */
function filesOf(checkout: string): ReadonlyMap<string, Buffer> {
  const dist = join(checkout, 'console/dist');
  const entries = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return new Map(paths.map((path) => [relative(dist, path), readFileSync(path)]));
}

/** The script that the page begins with. */
function entryOf(checkout: string): string {
  const page = readFileSync(join(checkout, 'console/dist/index.html'), 'utf8');
  return /src="\/console\/([^"]+\.js)"/.exec(page)?.[1] ?? assert.fail(page);
}

/** Runs `npm start` as an installation does that lets no package run scripts; the part control alone. */
function spawnStart(t: Cleanup, folder: string) {
  const env = {
    ...surroundings(),
    HOME: folder,
    CAUSEWAY_ROLES: 'control',
    CAUSEWAY_DATA_DIR: join(temporaryFolder(t), 'data'),
    CAUSEWAY_CONTROL_LISTEN: '127.0.0.1:0',
    CAUSEWAY_METRICS_LISTEN: '127.0.0.1:0',
  };
  const child = spawn('npm', ['start', '--ignore-scripts'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  const exit = once(child, 'close');
  t.after(async () => {
    child.kill('SIGTERM'); // npm passes it on
    if (child.exitCode === null) await exit;
  });
  return { child, exit, stdout: () => output.stdout, stderr: () => output.stderr };
}
