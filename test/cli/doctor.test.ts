/** `causeway doctor` on a sound machine, beside a running service, and on machines with one thing broken each. */
import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { DoctorFinding } from '#cli/command/doctor-finding.ts';
import { checkLibraries, judgeFileLimit } from '#roles/doctor/machine-checks.ts';
import { checkTimeZone } from '#roles/doctor/setting-checks.ts';
import { judgeVolume } from '#roles/doctor/storage-checks.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { clockOff } from '../support/fleet/machines.ts';
import { freePort } from '../support/free-port.ts';
import { runCommand, runProcess, startService } from '../support/process/service.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

type Settings = Readonly<Record<string, string>>;

/** Ports that nobody else has. */
const SOUND: Settings = {
  CAUSEWAY_CONTROL_LISTEN: '127.0.0.1:0',
  CAUSEWAY_METRICS_LISTEN: '127.0.0.1:0',
  CAUSEWAY_EDGE_HTTP_LISTEN: '127.0.0.1:0',
  CAUSEWAY_EDGE_HTTPS_LISTEN: '127.0.0.1:0',
  CAUSEWAY_RTMP_LISTEN: 'off',
  CAUSEWAY_DNS_LISTEN: '127.0.0.1:0',
  CAUSEWAY_EDGE_TRUSTED_PROXIES: '127.0.0.1',
};

/** A machine that is sound but for what `settings` say, and what runs the command there. */
interface Machine {
  readonly settings?: Settings;
  /** Words before the command. */
  readonly inside?: readonly string[];
}

interface Examined {
  readonly code: number | null;
  readonly findings: readonly DoctorFinding[];
}

async function examine(t: TestContext, { settings, inside }: Machine = {}): Promise<Examined> {
  const all = { CAUSEWAY_DATA_DIR: join(temporaryFolder(t), 'data'), ...SOUND, ...settings };
  const args = ['doctor', '--json'];
  const run =
    inside === undefined ? runCommand(t, args, { settings: all }) : runProcess(t, args, { settings: all, inside });
  const { code, stdout, stderr } = await run;
  assert.equal(stderr, '');
  return { code, findings: JSON.parse(stdout) };
}

/** Checks that the machine of the tests may fail, since they are about what it was given. */
const OF_SURROUNDINGS = ['DNS', 'clock', 'disk', 'file limits'];

test('a sound machine has a line for everything that is looked at, and no problem', async (t) => {
  const { findings } = await examine(t);
  assert.deepEqual(
    [...new Set(findings.map(({ check }) => check))],
    [
      ...['settings', 'libraries', 'DNS', 'data directory', 'ports', 'file limits', 'disk', 'clock', 'database'],
      ...['key ring', 'backup', 'time zone', 'origin guard', 'trusted proxies'],
    ],
  );
  assert.deepEqual(problemsOf(findings), []);
});

test('the lines for people have state, check, what was found and what to do', async (t) => {
  const settings = {
    ...SOUND,
    CAUSEWAY_DATA_DIR: join(temporaryFolder(t), 'data'),
    CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
  };
  const { stdout } = await runCommand(t, ['doctor'], { settings });
  assert.match(stdout, /^STATE +CHECK +FOUND\nok +settings +\d+ settings are given\n/);
  assert.match(
    stdout,
    /\nwarning +origin guard +origin-allow opens 127\.0\.0\.0\/8: loopback, .*; name only the networks/,
  );
  assert.match(stdout, /\n\d problems, \d warnings, \d+ ok\n$/);
});

test('a running service is not disturbed, and its own ports are no problem', async (t) => {
  const ports = { CAUSEWAY_CONTROL_LISTEN: `127.0.0.1:${await freePort()}` };
  const service = await startService(t, { settings: { ...ports, CAUSEWAY_ROLES: 'control' } });
  const settings = { ...ports, CAUSEWAY_ROLES: 'control', CAUSEWAY_DATA_DIR: service.dataDir };
  const { findings } = await examine(t, { settings });
  assert.deepEqual(problemsOf(findings), []);
  const found = (check: string) => findings.filter((one) => one.check === check).map((one) => one.found);
  assert.deepEqual(found('data directory'), [`${service.dataDir}, in use by the running service`]);
  assert.deepEqual(found('ports'), [`control-listen ${ports.CAUSEWAY_CONTROL_LISTEN}: the service listens`]);
  assert.match(found('file limits').join(), /^the service may have (\d+|unlimited) files/);
  assert.deepEqual(found('database'), ['SQLite answers and is up to date']);
  const { code } = await runCommand(t, ['domain', 'list'], { settings: { CAUSEWAY_DATA_DIR: service.dataDir } });
  assert.equal(code, 0);
});

/** Each breaks one thing; `expected` is what is found of it, and nothing else is a problem. */
const BROKEN: readonly {
  readonly what: string;
  readonly needs?: ReturnType<typeof needs>;
  readonly make: (t: TestContext) => Promise<Machine> | Machine;
  readonly check: string;
  readonly state: DoctorFinding['state'];
  readonly found: RegExp;
}[] = [
  {
    what: 'a settings file with an unknown setting',
    make: (t) => ({ inside: ['sh', '-c', 'cd "$0" && exec "$@"', folderWith(t, 'causeway.toml', 'edge-idd = "a"\n')] }),
    check: 'settings',
    state: 'problem',
    found: /^edge-idd \(.*causeway\.toml\): unknown setting; did you mean edge-id\?$/,
  },
  {
    what: 'a setting that is invalid',
    make: () => ({ settings: { CAUSEWAY_TIME_ZONE: 'Mars/Olympus' } }),
    check: 'settings',
    state: 'problem',
    found: /^time-zone \(CAUSEWAY_TIME_ZONE\): expected a time zone/,
  },
  {
    what: 'a port in use',
    make: async (t) => {
      const server = createServer().listen(0, '127.0.0.1');
      t.after(() => server.close());
      await new Promise((resolve) => server.once('listening', resolve));
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : 0;
      return { settings: { CAUSEWAY_EDGE_HTTP_LISTEN: `127.0.0.1:${port}` } };
    },
    check: 'ports',
    state: 'problem',
    found: new RegExp(`^edge-http-listen 127\\.0\\.0\\.1:\\d+: in use by .* \\(process ${process.pid}\\)$`),
  },
  {
    what: 'two listeners with one address',
    make: async () => {
      const address = `127.0.0.1:${await freePort()}`;
      return { settings: { CAUSEWAY_CONTROL_LISTEN: address, CAUSEWAY_METRICS_LISTEN: address } };
    },
    check: 'ports',
    state: 'problem',
    found: /^metrics-listen .*: the metrics cannot listen on .*: the address is already in use$/,
  },
  {
    what: 'a database server that is away',
    make: async () => ({ settings: { DATABASE_URL: `postgres://causeway@127.0.0.1:${await freePort()}/causeway` } }),
    check: 'database',
    state: 'problem',
    found: /^cannot use the database postgres:\/\/causeway@127\.0\.0\.1:\d+\/causeway: .*ECONNREFUSED/,
  },
  {
    what: 'a database of a newer release',
    make: async (t) => {
      const service = await startService(t, { settings: { CAUSEWAY_ROLES: 'control' } });
      await service.stop();
      using database = new DatabaseSync(join(service.dataDir, 'causeway.db'));
      database.exec(`insert into kysely_migration values ('9999-of-tomorrow', '2026-01-01')`);
      return { settings: { CAUSEWAY_DATA_DIR: service.dataDir } };
    },
    check: 'database',
    state: 'problem',
    found: /^SQLite was used by a newer release \(9999-of-tomorrow\)$/,
  },
  {
    what: 'a data directory with something else in it',
    make: (t) => ({ settings: { CAUSEWAY_DATA_DIR: folderWith(t, 'holiday.jpg', '') } }),
    check: 'data directory',
    state: 'problem',
    found: /contains other files and is not a causeway installation$/,
  },
  {
    what: 'a key ring that others may read',
    make: (t) => {
      const folder = folderWith(t, 'keyring', 'causeway-keyring-1\n');
      chmodSync(join(folder, 'keyring'), 0o644);
      return { settings: { CAUSEWAY_DATA_DIR: folder } };
    },
    check: 'key ring',
    state: 'problem',
    found: /may be read by others \(mode 644\)/,
  },
  {
    what: 'a file of the future in the data directory',
    make: (t) => {
      const folder = folderWith(t, 'lock', '');
      mkdirSync(join(folder, 'run'));
      utimesSync(join(folder, 'run'), 4e9, 4e9);
      return { settings: { CAUSEWAY_DATA_DIR: folder } };
    },
    check: 'clock',
    state: 'problem',
    found: /^the clock says .*, before .*run was written \(2096-/,
  },
  {
    what: 'a clock that is years behind',
    needs: needs('faketime'),
    make: (t) => {
      const folder = folderWith(t, 'lock', '');
      mkdirSync(join(folder, 'run'));
      return { settings: { ...clockOff('-3000d'), CAUSEWAY_DATA_DIR: folder }, inside: [] };
    },
    check: 'clock',
    state: 'problem',
    found: /^the clock says 201\d-.*, before .* was written/,
  },
  {
    what: 'a certificate of control that has ended',
    needs: needs('openssl'),
    make: (t) => ({ settings: controlTls(t, { isExpired: true }) }),
    check: 'certificates',
    state: 'problem',
    found: /^the certificate of control-tls-cert ended on \d{4}-/,
  },
  {
    what: 'proxies that are everybody',
    make: () => ({ settings: { CAUSEWAY_EDGE_TRUSTED_PROXIES: '0.0.0.0/0' } }),
    check: 'trusted proxies',
    state: 'problem',
    found: /^edge-trusted-proxies contains 0\.0\.0\.0\/0: any client can claim any address$/,
  },
  {
    what: 'an origin guard that is open',
    make: () => ({ settings: { CAUSEWAY_ORIGIN_ALLOW: '::/0' } }),
    check: 'origin guard',
    state: 'problem',
    found: /^origin-allow contains ::\/0: customers can reach every private address$/,
  },
  {
    what: 'a low limit of open files',
    make: () => ({ inside: ['bash', '-c', 'ulimit -n 512; exec "$0" "$@"'] }),
    check: 'file limits',
    state: 'problem',
    found: /^a process started from this shell may have 512 files and connections open$/,
  },
  {
    what: 'a disk that is full',
    needs: needs('mounts'),
    make: (t) => {
      const folder = temporaryFolder(t);
      const script = `mount -t tmpfs -o size=1m tmpfs ${folder} && head -c 1000000 /dev/zero > ${folder}/lock && exec "$0" "$@"`;
      return {
        settings: { CAUSEWAY_DATA_DIR: join(folder, 'data') },
        inside: [obtain('mounts'), '-rm', 'sh', '-c', script],
      };
    },
    check: 'disk',
    state: 'problem',
    found: /^the file system of .* is (9[5-9]|100) % full, 0\.0 GB are free$/,
  },
  {
    what: 'a disk that is mounted read-only',
    needs: needs('mounts'),
    make: (t) => {
      const folder = temporaryFolder(t);
      const script = `mount -t tmpfs -o ro tmpfs ${folder} && exec "$0" "$@"`;
      return {
        settings: { CAUSEWAY_DATA_DIR: join(folder, 'data') },
        inside: [obtain('mounts'), '-rm', 'sh', '-c', script],
      };
    },
    check: 'data directory',
    state: 'problem',
    found: /cannot be written: EROFS/,
  },
  {
    what: 'a name server that does not answer',
    needs: needs('mounts'),
    make: (t) => {
      const file = join(folderWith(t, 'resolv.conf', 'nameserver 127.0.0.254\n'), 'resolv.conf');
      const script = `mount --bind ${file} /etc/resolv.conf && exec "$0" "$@"`;
      return { inside: [obtain('mounts'), '-rm', 'sh', '-c', script] };
    },
    check: 'DNS',
    state: 'problem',
    found: /^no answer from the name servers 127\.0\.0\.254 \(ECONNREFUSED\)$/,
  },
];

for (const { what, needs: its = {}, make, check, state, found } of BROKEN)
  test(`doctor finds ${what}`, its, async (t) => {
    const { code, findings } = await examine(t, await make(t));
    const own = findings.filter((finding) => finding.check === check && finding.state === state);
    assert.ok(
      own.some((finding) => found.test(finding.found)),
      JSON.stringify(findings, undefined, 2),
    );
    assert.ok(own.every(({ advice = '' }) => advice !== ''));
    assert.deepEqual(
      problemsOf(findings).filter((other) => other.check !== check),
      [],
    );
    assert.equal(code, 1);
  });

test('files of another user in the data directory are a problem', async (t) => {
  const folder = folderWith(t, 'causeway.db', '');
  mkdirSync(join(folder, 'run'));
  const isRoot = process.getuid?.() === 0; // only root can give files away
  if (isRoot) chownSync(join(folder, 'run'), 65_534, 65_534);
  const { findings } = await examine(t, { settings: { CAUSEWAY_DATA_DIR: folder } });
  const found = findings.find(({ check }) => check === 'data directory')?.found ?? '';
  assert.equal(/^run in .* belong to another user/.test(found), isRoot, found);
});

test('a bundled Node that lacks a library is a problem, and says which package has it', async (t) => {
  const root = temporaryFolder(t);
  const folder = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin');
  mkdirSync(folder, { recursive: true });
  const message = 'error while loading shared libraries: libatomic.so.1: cannot open shared object file';
  writeFileSync(join(folder, 'node'), `#!/bin/sh\necho '${message}' >&2\nexit 127\n`, { mode: 0o755 });
  const [finding] = await checkLibraries(root);
  assert.deepEqual([finding?.state, finding?.found], ['problem', `the bundled Node cannot be run: ${message}`]);
  assert.match(finding?.advice ?? '', /apt-get install libatomic1$/);
});

test('limits, disks and time zones are judged by their figures', () => {
  const limit = (text: string) =>
    judgeFileLimit(`Max open files            1024                 ${text}    files`, 'it').state;
  assert.deepEqual(['1024', '20000', '65536', 'unlimited'].map(limit), ['problem', 'warning', 'ok', 'ok']);
  assert.equal(judgeFileLimit('', 'it').state, 'warning');
  const disk = {
    directory: '/srv',
    sizeBytes: 100,
    freeBytes: 50,
    usedShare: 0.5,
    usedInodesShare: 0,
    allowedBytes: 90,
  };
  const rows: readonly (readonly [Partial<typeof disk>, DoctorFinding['state']])[] = [
    [{}, 'ok'],
    [{ usedShare: 0.86 }, 'warning'],
    [{ usedShare: 0.96 }, 'problem'],
    [{ usedInodesShare: 0.96 }, 'problem'],
    [{ allowedBytes: 101 }, 'warning'],
  ];
  for (const [change, state] of rows)
    assert.equal(judgeVolume({ ...disk, ...change }).state, state, JSON.stringify(change));
  const zone = (source: string, machine: string) =>
    checkTimeZone({ timeZone: 'Asia/Shanghai' }, source, machine)[0]?.state;
  assert.deepEqual(
    [
      zone('default', 'UTC'),
      zone('default', 'Asia/Shanghai'),
      zone('default', 'Europe/Berlin'),
      zone('--time-zone', 'Europe/Berlin'),
    ],
    ['ok', 'ok', 'warning', 'ok'],
  );
});

function problemsOf(findings: readonly DoctorFinding[]): readonly DoctorFinding[] {
  return findings.filter(({ check, state }) => state === 'problem' && !OF_SURROUNDINGS.includes(check));
}

function folderWith(t: TestContext, name: string, text: string): string {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, name), text, { mode: 0o600 });
  return folder;
}

function controlTls(t: TestContext, options: { readonly isExpired: boolean }): Settings {
  const folder = temporaryFolder(t);
  const { cert, key } = createAuthority(t).issue(['127.0.0.1'], options);
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key, { mode: 0o600 });
  return { CAUSEWAY_CONTROL_TLS_CERT: join(folder, 'cert.pem'), CAUSEWAY_CONTROL_TLS_KEY: join(folder, 'key.pem') };
}
