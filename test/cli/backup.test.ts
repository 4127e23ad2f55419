/** Backups as an operator has them: made while the service is busy, tried, kept and removed, restored on the other engine. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { createClient } from '#client/client.ts';
import { openExport } from '#db/export/read.ts';
import { verifyExport } from '#db/export/verify.ts';
import { openDatabase } from '#db/open.ts';
import { loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import { loadOrMakeAcmeAccount } from '#db/tables/acme-accounts.ts';
import { takeLock } from '#lib/data-directory.ts';
import { findLeftParts } from '#roles/database/backup.ts';
import { makeScratchFolder } from '#roles/database/scratch-folder.ts';
import { startControl } from '../support/cli/control.ts';
import { newPostgres, newSqlite } from '../support/db/databases.ts';
import { exportText, linesOf } from '../support/db/exports.ts';
import { silentLog } from '../support/feed/feed.ts';
import { runCommand, runProcess } from '../support/process/service.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

type Settings = Readonly<Record<string, string>>;

const CONTROL: Settings = {
  CAUSEWAY_ROLES: 'control',
  CAUSEWAY_TOKEN_RATE_PER_SECOND: '10000',
  CAUSEWAY_TOKEN_RATE_BURST: '10000',
};

for (const [from, to, its] of [
  ['SQLite', 'SQLite', {}],
  ['SQLite', 'PostgreSQL', needs('postgres')],
  ['PostgreSQL', 'SQLite', needs('postgres')],
] as const)
  test(`a backup of a busy service on ${from} is tried, and restored on ${to}`, its, async (t) => {
    const folder = temporaryFolder(t);
    const source = await engineSettings(t, from);
    const service = await startControl(t, { ...CONTROL, ...source });
    const load = startLoad(service);
    const settings = {
      ...source,
      CAUSEWAY_DATA_DIR: service.dataDir,
      CAUSEWAY_BACKUP_DIRECTORY: join(folder, 'backups'),
    };
    const run = (args: readonly string[], more: Settings = {}) =>
      runCommand(t, args, { settings: { ...settings, ...more } });
    await load.reached(20);
    const made = await run(['db', 'backup', '--verify']);
    assert.deepEqual([made.code, made.stderr], [0, '']);
    assert.match(made.stdout, /^exported \d+ rows to .*causeway-\d{8}T\d{6}Z\.ndjson, and restored it to try it\n/);
    const atBackup = load.count();
    await load.reached(atBackup + 5); // it has not stood still
    await load.stop();
    const [name = ''] = readdirSync(join(folder, 'backups'));
    const file = join(folder, 'backups', name);
    const verified = await run(['db', 'verify', file]);
    assert.match(verified.stdout, /^restored \d+ rows of \d+ tables, as of 20\d\d-.*; none differs\n/);
    assert.deepEqual(readdirSync(join(folder, 'backups')), [name]);

    const copy = { CAUSEWAY_DATA_DIR: join(folder, 'copy'), DATABASE_URL: '', ...(await engineSettings(t, to)) };
    mkdirSync(copy.CAUSEWAY_DATA_DIR);
    copyFileSync(join(service.dataDir, 'keyring'), join(copy.CAUSEWAY_DATA_DIR, 'keyring'));
    assert.equal((await run(['db', 'import', file], copy)).code, 0);
    const restored = await startControl(t, { ...CONTROL, ...copy }, copy.CAUSEWAY_DATA_DIR);
    const client = createClient({ baseUrl: restored.controlUrl, accessToken: service.token });
    const { total } = await client.call('domain.list', {});
    const inFile = linesOf(readFileSync(file, 'utf8')).filter((line) => line.startsWith('{"table":"domain",')).length;
    assert.deepEqual([total, inFile >= 20 && inFile <= load.count()], [inFile, true]);
  });

test('backups beyond the limit are removed once the new one is there, and the key ring must lie elsewhere', async (t) => {
  const service = await startControl(t, CONTROL);
  const folder = temporaryFolder(t);
  const settings = { CAUSEWAY_DATA_DIR: service.dataDir, CAUSEWAY_BACKUP_DIRECTORY: folder, CAUSEWAY_BACKUP_KEEP: '2' };
  const backUp = (more: Settings = {}) => runCommand(t, ['db', 'backup'], { settings: { ...settings, ...more } });
  const old = ['causeway-20250101T000000Z.ndjson', 'causeway-20250102T000000Z.ndjson'];
  for (const name of [...old, 'mine']) writeFileSync(join(folder, name), '');
  assert.match(
    (await backUp({ CAUSEWAY_KEYRING: join(folder, 'keyring') })).stderr,
    /^causeway: the key ring .* keep them apart\n$/,
  );
  assert.equal(
    (await backUp({ CAUSEWAY_BACKUP_DIRECTORY: '' })).stderr,
    'causeway: set backup-directory, a directory for backups of the database\n',
  );
  assert.deepEqual(readdirSync(folder).sort(), [...old, 'mine']);
  const { code, stdout } = await backUp();
  assert.equal(code, 0);
  assert.match(stdout, /\nremoved causeway-20250101T000000Z\.ndjson\n/);
  assert.deepEqual(readdirSync(folder).length, 3);
  assert.ok(readdirSync(folder).includes('mine') && readdirSync(folder).includes('causeway-20250102T000000Z.ndjson'));
});

test('two backups at once both succeed', async (t) => {
  const { dataDir } = await startControl(t, CONTROL);
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'causeway-20250101T000000Z.ndjson'), '');
  mkdirSync(join(folder, 'causeway-20240101T000000Z.ndjson')); // no backup, whatever its name
  const settings = { CAUSEWAY_DATA_DIR: dataDir, CAUSEWAY_BACKUP_DIRECTORY: folder, CAUSEWAY_BACKUP_KEEP: '2' };
  const backUp = () => runCommand(t, ['db', 'backup', '--verify'], { settings });
  for (const { code, stderr } of await Promise.all([backUp(), backUp()])) assert.deepEqual([code, stderr], [0, '']);
  const [, ...left] = readdirSync(folder).sort();
  assert.ok(left.length <= 2 && left.every((name) => /^causeway-\d{8}T\d{6}Z\.ndjson$/.test(name)), left.join());
});

test(
  'an export that finds the disk full fails, names the file and leaves nothing there',
  needs('mounts'),
  async (t) => {
    const { dataDir } = await startControl(t, CONTROL);
    const folder = temporaryFolder(t);
    const fill = `mount -t tmpfs -o size=64k tmpfs ${folder} && ! head -c 1000000 /dev/zero > ${folder}/filler 2> /dev/null`;
    const script = `${fill} && { "$0" "$@"; code=$?; ls -A ${folder}; exit $code; }`;
    const { code, stdout, stderr } = await runProcess(t, ['db', 'export', join(folder, 'export')], {
      settings: { CAUSEWAY_DATA_DIR: dataDir },
      inside: [obtain('mounts'), '-rm', 'sh', '-c', script],
    });
    assert.deepEqual([code, stdout, stderr], [1, 'filler\n', `causeway: ${folder}/export cannot be written: ENOSPC\n`]);
  },
);

test('a file that is damaged, or whose key ring is missing, does not verify, and leaves nothing behind', async (t) => {
  const service = await startControl(t, CONTROL);
  const folder = temporaryFolder(t);
  const file = join(folder, 'export');
  const settings = { CAUSEWAY_DATA_DIR: service.dataDir };
  await runCommand(t, ['live', 'list'], { settings });
  assert.equal((await runCommand(t, ['db', 'export', file, '--with-secrets'], { settings })).code, 0);
  const verify = (path: string, ...more: readonly string[]) =>
    runCommand(t, ['db', 'verify', path, ...more], { settings });
  const { stdout } = await verify(file, '--json');
  assert.deepEqual(JSON.parse(stdout).differences, []);
  const text = readFileSync(file, 'utf8');
  const cut = join(folder, 'cut');
  writeFileSync(cut, text.slice(0, -200));
  assert.match((await verify(cut)).stderr, /^causeway: line \d+: /);
  const changed = join(folder, 'changed');
  writeFileSync(changed, text.replace('"revision":', '"revision": '));
  assert.match((await verify(changed)).stderr, /SHA-256/);
  assert.deepEqual(readdirSync(folder).sort(), ['changed', 'cut', 'export']);
});

test('a trial opens each secret: it fails with another key ring of the same keys, and says so where there is none', async (t) => {
  const folder = temporaryFolder(t);
  const place = (name: string) => join(folder, name);
  const ring = loadOrMakeKeyring(place('keyring'));
  const database = { file: place('causeway.db'), log: silentLog };
  {
    await using db = await openDatabase(database);
    const account = { directory: 'https://ca.example/directory', makeKey: () => 'a key', now: 0 };
    await db.transaction((trx) => loadOrMakeAcmeAccount(trx, ring, account));
  }
  mkdirSync(place('backups'));
  const run = (...args: readonly string[]) =>
    runCommand(t, ['db', ...args], {
      settings: { CAUSEWAY_DATA_DIR: folder, CAUSEWAY_BACKUP_DIRECTORY: place('backups') },
    });
  assert.equal((await run('backup', '--verify')).code, 0);
  const file = join(place('backups'), readdirSync(place('backups'))[0] ?? '');
  const opens = '; none differs\nthe key ring opens each of its 1 secrets\n';
  assert.ok((await run('verify', file)).stdout.endsWith(opens));

  const { id } = ring.newest;
  renameSync(place('keyring'), place('away'));
  const unopened = await run('verify', file);
  assert.match(unopened.stdout, /none differs\nits 1 secrets were not tried, since there is no key ring here: name it/);
  assert.equal(unopened.code, 0);
  assert.match((await run('verify', file, '--keyring', place('keyring'))).stderr, /key ring .* is missing/);
  assert.match((await run('backup', '--verify')).stderr, /key ring .* is missing/);
  assert.ok((await run('verify', file, '--keyring', place('away'))).stdout.endsWith(opens));

  const other = loadOrMakeKeyring(place('other')).newest;
  const forged = readFileSync(place('other'), 'utf8').replace(other.id, id);
  writeFileSync(place('other'), forged.replace(/ \w+\n$/, '\n'));
  const wrong = await run('verify', file, '--keyring', place('other'));
  assert.equal(wrong.code, 1);
  assert.match(
    wrong.stderr,
    /the secret in acme_account\.private_key of https:\/\/ca\.example\/directory does not open/,
  );
});

test('a trial removes what killed ones have left, and nothing that is in use or of somebody else', async (t) => {
  const folder = temporaryFolder(t);
  const left = ['.verify-killed', '.verify-linked', '.verify-open', '.verify-used'].map((name) => join(folder, name));
  const [killed = '', linked = '', open = '', used = ''] = left;
  const elsewhere = temporaryFolder(t);
  writeFileSync(join(elsewhere, 'mine'), '');
  for (const path of [killed, open, used]) mkdirSync(path, { mode: 0o700 });
  writeFileSync(join(killed, 'restored.db'), '');
  chmodSync(open, 0o755);
  symlinkSync(elsewhere, linked);
  const other = takeLock(join(used, 'lock'));
  {
    using made = makeScratchFolder(folder);
    assert.deepEqual(
      readdirSync(folder).sort(),
      ['.verify-linked', '.verify-open', '.verify-used', basename(made.path)].sort(),
    );
    assert.equal(statSync(made.path).mode & 0o777, 0o700);
  }
  assert.deepEqual(readdirSync(elsewhere), ['mine']);
  other?.[Symbol.dispose]();
  makeScratchFolder(folder)[Symbol.dispose]();
  assert.deepEqual(readdirSync(folder).sort(), ['.verify-linked', '.verify-open']);
});

test('a backup removes unfinished files of killed ones after a day, and begins nothing on a disk without room', async (t) => {
  const part = (day: string) => `causeway-${day}T000000Z.ndjson.0123456789ab.part`;
  const now = Date.UTC(2026, 0, 3);
  const file = (name: string, changedAt: number) => ({ name, changedAt, sizeBytes: 1 });
  const files = [
    file(part('20260101'), Date.UTC(2026, 0, 1)),
    file(part('20260102'), Date.UTC(2026, 0, 2, 12)),
    file('mine.0123456789ab.part', 0),
    file('causeway-20260101T000000Z.ndjson', 0),
  ];
  assert.deepEqual(findLeftParts(files, now), [part('20260101')]);

  const folder = temporaryFolder(t);
  const backups = join(folder, 'backups');
  mkdirSync(backups);
  const service = await startControl(t);
  const settings = { CAUSEWAY_DATA_DIR: service.dataDir, CAUSEWAY_BACKUP_DIRECTORY: backups };
  const huge = join(backups, 'causeway-20260101T000000Z.ndjson');
  writeFileSync(huge, '');
  truncateSync(huge, 2 ** 43); // without blocks
  const { code, stderr } = await runCommand(t, ['db', 'backup'], { settings });
  assert.equal(code, 1);
  assert.match(stderr, /^causeway: the disk of .*backups has \d+ MB free, and a backup takes about \d+ MB: make room/);
  assert.deepEqual(readdirSync(backups), [basename(huge)]);
});

test('a row that the restored database has otherwise is a difference', async (t) => {
  const source = await newSqlite(t);
  const aside = await newSqlite(t);
  using database = new DatabaseSync(aside.file);
  database.exec(
    `create trigger spoil after insert on sms_price begin update sms_price set price = price + 1 where kind = new.kind and prefix = new.prefix; end`,
  );
  const bytes = Buffer.from(await exportText(source));
  const read = await openExport(
    (async function* () {
      yield bytes;
    })(),
  );
  const { differences } = await verifyExport({ ...aside, log: silentLog }, read, () =>
    assert.fail('no secret is in it'),
  );
  assert.deepEqual(differences, ['sms_price: rows of the restored database differ from those of the file']);
});

async function engineSettings(t: TestContext, engine: 'SQLite' | 'PostgreSQL'): Promise<Settings> {
  return engine === 'SQLite' ? {} : { DATABASE_URL: (await newPostgres(t)).url ?? '' };
}

/** Adds domains one after the other until it is stopped. */
function startLoad({ controlUrl, token }: { readonly controlUrl: string; readonly token: string }) {
  const client = createClient({ baseUrl: controlUrl, accessToken: token });
  let [count, isStopping] = [0, false];
  let waiting: { readonly from: number; readonly resolve: () => void } | undefined;
  const running = (async () => {
    while (!isStopping) {
      await client.call('domain.add', { domain: `w${count}.example.com`, cdn_type: '1', data: 'origin.example.net' });
      count += 1;
      if (waiting !== undefined && count >= waiting.from) waiting.resolve();
    }
  })();
  return {
    count: () => count,
    /** Resolves when so many have been added. */
    reached: (from: number) =>
      Promise.race([
        running,
        new Promise<void>((resolve) => {
          waiting = { from, resolve };
          if (count >= from) resolve();
        }),
      ]),
    async stop() {
      isStopping = true;
      await running;
    },
  };
}
