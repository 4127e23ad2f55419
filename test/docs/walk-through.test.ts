/** The README's walk-through, run as it is written: each command's output must hold what its `# →` lines say. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { startService } from '../support/process/service.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const ROOT = join(import.meta.dirname, '../..');

interface Command {
  readonly text: string;
  readonly expected: readonly string[];
}

test('the walk-through of the README works as it is written', needs('curl', 'dig', 'nginx'), async (t) => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755); // nginx reads its files as another user
  const roles = { CAUSEWAY_ROLES: 'control,edge,dns' };
  const service = await startService(t, { settings: { ...roles, ...readSettings(readme) } });
  const [, dns = ''] = /^dns +\S+:(\d+)$/m.exec(service.process.stdout()) ?? [];
  // The README speaks of the default ports and paths; here they are this test's own.
  const own = new Map([
    ['/tmp/causeway-origin', join(folder, 'origin')],
    ['-p 8753', `-p ${dns}`],
    ['127.0.0.1:8700', new URL(service.controlUrl).host],
    ['127.0.0.1:8080', new URL(service.edgeUrl).host],
    ['127.0.0.1:8081', `127.0.0.1:${await freePort()}`],
    ['127.0.0.1:8082', `127.0.0.1:${await freePort()}`],
  ]);
  const commands = readCommands(readme).map(({ text, expected }) => ({
    text: [...own].reduce((changed, [from, to]) => changed.replaceAll(from, to), text),
    expected,
  }));
  assert.ok(commands.length >= 8, 'the README has its walk-through');
  mkdirSync(join(folder, 'origin'));
  symlinkSync(service.dataDir, join(folder, 'data'));
  symlinkSync(join(ROOT, 'bin'), join(folder, 'bin'));

  const script = commands.map(({ text }, index) => `{ ${text}\n} > ${folder}/out.${index} 2>&1`).join('\n');
  const code = await run(folder, `set -e\n${script}`);
  await run(folder, `kill $(cat ${join(folder, 'origin', 'pid')})`);
  const outputs = commands.map((_, index) => readIfThere(join(folder, `out.${index}`)));
  assert.equal(code, 0, outputs.join('\n'));
  for (const [index, { text, expected }] of commands.entries()) {
    for (const part of expected)
      assert.ok(outputs[index]?.includes(part), `${text}\nshould show: ${part}\nshowed: ${outputs[index]}`);
  }
});

test("the walk-through's nginx starts as a user without access to the folders of the package", needs('nginx'), (t) => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [, conf = ''] = /<<'CONF'\n(.*?)^CONF$/ms.exec(readme) ?? [];
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'nginx.conf'), conf.replaceAll('/tmp/causeway-origin', folder));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const nobody = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const args = ['-t', '-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf')];
  const { status, stderr } = spawnSync(obtain('nginx'), args, { ...nobody, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});

const NOBODY = 65_534;

/** The settings before `npm start` in the walk-through. */
function readSettings(readme: string): Record<string, string> {
  const [, settings = ''] = /^((?:CAUSEWAY_\w+=\S+ )+)npm start$/m.exec(readme) ?? [];
  return Object.fromEntries(
    settings
      .trim()
      .split(' ')
      .map((setting) => setting.split('=')),
  );
}

/** The `sh` blocks of the walk-through, cut into commands: a new one begins after each group of `# →` lines. */
function readCommands(readme: string): Command[] {
  const section = readme.slice(readme.indexOf('## Walk-through'), readme.indexOf('## Where to read on'));
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  return blocks.flatMap((block) =>
    [...block.matchAll(/((?:^(?!# →).*\n)+)((?:^# → .*\n)*)/gm)].map(([, text = '', notes = '']) => ({
      text,
      expected: notes
        .split('\n')
        .filter((note) => note !== '')
        .map((note) => note.replace('# → ', '')),
    })),
  );
}

async function run(folder: string, script: string): Promise<number> {
  const child = spawn('bash', ['-c', script], { cwd: folder, stdio: 'ignore', timeout: 180_000 });
  const [code] = await once(child, 'exit');
  return typeof code === 'number' ? code : 1;
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '(did not run)';
  }
}
