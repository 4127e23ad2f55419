/** `causeway db export` and `import` as an operator uses them: beside a running service, killed, and from engine to engine. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { newPostgres } from '../support/db/databases.ts';
import { linesOf, sealLines } from '../support/db/exports.ts';
import { runCommand, runProcess, spawnCommand, startService } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const CONTROL = { CAUSEWAY_ROLES: 'control' };

test('the database as a file', async (t) => {
  const exported = await exportService(t);
  await t.test('an export of a running installation makes another installation', (t) => startFromIt(t, exported));
  await t.test('an impossible export or import is refused with its reason, and leaves nothing behind', (t) =>
    refuseAll(t, exported),
  );
  for (const [engine, options] of [
    ['SQLite', {}],
    ['PostgreSQL', needs('postgres')],
  ] as const) {
    const name = `an import into ${engine} that is killed leaves nothing, and can be done anew`;
    await t.test(`an import into ${name} that is killed leaves nothing`, options, (t) =>
      killImport(t, exported, engine),
    );
  }
});

type Exported = Awaited<ReturnType<typeof exportService>>;

async function startFromIt(t: TestContext, { file, dataDir, token }: Exported) {
  const folder = temporaryFolder(t);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const copy = join(folder, 'copy');
  // What is kept apart may be put back first.
  mkdirSync(join(copy, 'log-store'), { recursive: true });
  copyFileSync(join(dataDir, 'keyring'), join(copy, 'keyring'));
  const imported = await runCommand(t, ['db', 'import', file, '--data-dir', copy]);
  const rows = linesOf(readFileSync(file, 'utf8')).length - 1;
  assert.deepEqual([imported.code, imported.stdout, imported.stderr], [0, `imported ${rows} rows\n`, '']);
  const again = await runCommand(t, ['db', 'import', file, '--data-dir', copy]);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /^causeway: the database is not empty \(there is something in account\): /);
  const service = await startService(t, { dataDir: copy, settings: CONTROL });
  assert.equal(existsSync(join(copy, 'first-token')), false);
  const settings = { CAUSEWAY_URL: service.controlUrl, CAUSEWAY_TOKEN: token };
  const listed = await runCommand(t, ['domain', 'list'], { settings });
  assert.match(listed.stdout, /^1 +www\.example\.com /m);
}

async function refuseAll(t: TestContext, { file, dataDir }: Exported) {
  const folder = temporaryFolder(t);
  const refuses = async (args: readonly string[], message: RegExp) => {
    const { code, stdout, stderr } = await runCommand(t, ['db', ...args]);
    assert.deepEqual([code, stdout], [1, ''], stderr);
    assert.match(stderr, message);
  };
  const absent = join(folder, 'absent');
  await refuses(['import', file, '--data-dir', dataDir], /^causeway: a service is running from .*; stop it first/);
  await refuses(['export', file, '--data-dir', absent], /^causeway: no installation found in /);
  await refuses(
    ['import', join(folder, 'no-file'), '--data-dir', absent],
    /no-file cannot be read: no such file or folder\n$/,
  );
  await refuses(['import', folder, '--data-dir', absent], /^causeway: .* cannot be read: it is a folder\n$/);
  writeFileSync(join(folder, 'text'), 'a text\n');
  await refuses(['import', join(folder, 'text'), '--data-dir', absent], /^causeway: line 1: this is not an export/);
  assert.equal(existsSync(absent), false);
  await refuses(['import', file, '--data-dir', folder], /contains other files/);
  mkdirSync(join(folder, 'out'));
  await refuses(['export', join(folder, 'out'), '--data-dir', dataDir], /out exists and is not a file/);
  await refuses(
    ['export', join(absent, 'file'), '--data-dir', dataDir],
    /absent\/file cannot be written: no such file or folder\n$/,
  );
  assert.deepEqual(readdirSync(folder).sort(), ['out', 'text']);
}

async function killImport(t: TestContext, { file }: Exported, engine: string) {
  const folder = temporaryFolder(t);
  const url = engine === 'SQLite' ? undefined : (await newPostgres(t)).url;
  const settings = { CAUSEWAY_DATA_DIR: join(folder, 'copy'), ...(url !== undefined && { DATABASE_URL: url }) };
  const [head = '', ...rows] = linesOf(readFileSync(file, 'utf8'));
  const another = (row: string, n: number) => row.replace('"id":1', `"id":${n}`).replace('www', `w${n}`);
  const copies = (row: string) =>
    row.startsWith('{"table":"domain"') ? Array.from({ length: 10_000 }, (_, n) => another(row, n + 1)) : [row];
  const large = sealLines([head, ...rows.flatMap(copies)]);
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const command = spawnCommand(t, ['db', 'import', pipe], { settings });
  // Far more than pipes hold: most of it has reached the database when it is written.
  await writeTo(pipe, large.slice(0, large.length - 1000));
  command.child.kill('SIGKILL');
  await command.exit;
  assert.equal(command.stdout(), '');
  const whole = join(folder, 'large');
  writeFileSync(whole, large);
  const imported = await runCommand(t, ['db', 'import', whole], { settings });
  assert.deepEqual([imported.code, imported.stderr], [0, '']);
  const exported = await runProcess(t, ['db', 'export', '-'], { settings });
  assert.equal(linesOf(exported.stdout).length, linesOf(large).length);
}

/** A service with a domain, and its export. */
async function exportService(t: TestContext) {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, 'data');
  const { token } = await startService(t, { dataDir, settings: CONTROL });
  const file = join(folder, 'export');
  const domain = ['domain', 'add', 'www.example.com', 'origin.example.net'];
  const added = await runCommand(t, domain, { settings: { CAUSEWAY_DATA_DIR: dataDir } });
  assert.equal(added.code, 0, added.stderr);
  const { code, stdout, stderr } = await runCommand(t, ['db', 'export', file, '--data-dir', dataDir]);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^exported \d+ rows to /);
  return { folder, dataDir, file, token };
}

/** Resolves when the reader has taken all but what the pipe holds. */
async function writeTo(pipe: string, text: string): Promise<void> {
  const stream = createWriteStream(pipe, { flags: 'w' });
  await new Promise<void>((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
  stream.destroy();
  await once(stream, 'close');
}
