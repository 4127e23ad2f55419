/** How commands are written: settings before and after their names, names of operations, help, addresses that are wrong. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROUTE_NAMES, ROUTES } from '#contract/routes.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { startControl } from '../support/cli/control.ts';
import { runCommand } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('settings may precede the name of a command, whose own settings win', async (t) => {
  const service = await startControl(t);
  const { dataDir } = service;
  const table = 'ID  NAME  STATUS  ORIGINS\n';
  const rows: readonly (readonly [readonly string[], string, string])[] = [
    [['--data-dir', dataDir, 'domain', 'list'], table, ''],
    [['domain', `--data-dir=${dataDir}`, 'list'], table, ''],
    [['--data-dir', '/nowhere', 'domain', 'list', '--data-dir', dataDir], table, ''],
    [
      ['--config', '/nowhere', 'domain', 'list'],
      '',
      'causeway: config (/nowhere): cannot be read: no such file or folder\n',
    ],
    [['--edge-id', 'a', 'domain', 'list'], '', 'causeway: list has no option --edge-id; see --help\n'],
  ];
  for (const [args, answer, problem] of rows) {
    const { code, stdout, stderr } = await runCommand(t, args);
    assert.deepEqual([code, stdout, stderr], [problem === '' ? 0 : 1, answer, problem], args.join(' '));
  }
});

test("an operation is called by our name, by the interface's, or by its path", async (t) => {
  const service = await startControl(t);
  const call = (name: string) => runCommand(t, ['call', name, '--data-dir', service.dataDir]);
  for (const name of ['domain.list', 'listDomains', '/domain/listDomains'])
    assert.match((await call(name)).stdout, /"total": 0/, name);
  assert.equal(
    (await call('listDomain')).stderr,
    'causeway: unknown operation listDomain: did you mean listDomains?\n',
  );
});

test('the last part of a path identifies one documented operation', () => {
  const names = ROUTE_NAMES.filter((name) => !('extension' in ROUTES[name])).map((name) => ROUTES[name].path);
  const parts = names.map((path) => path.slice(path.lastIndexOf('/') + 1));
  assert.equal(new Set(parts).size, parts.length);
});

test('an address with the wrong scheme is explained', needs('openssl'), async (t) => {
  const service = await startControl(t);
  const folder = temporaryFolder(t);
  const { cert, key } = createAuthority(t).issue(['127.0.0.1']);
  const files = {
    CAUSEWAY_CONTROL_TLS_CERT: join(folder, 'cert.pem'),
    CAUSEWAY_CONTROL_TLS_KEY: join(folder, 'key.pem'),
  };
  writeFileSync(files.CAUSEWAY_CONTROL_TLS_CERT, cert);
  writeFileSync(files.CAUSEWAY_CONTROL_TLS_KEY, key);
  const secure = await startControl(t, files);
  const list = async (url: string) =>
    (await runCommand(t, ['domain', 'list', '--url', url], { settings: { CAUSEWAY_TOKEN: 'x' } })).stderr;
  const plain = service.controlUrl;
  assert.equal(
    await list(plain.replace('http:', 'https:')),
    `causeway: the service cannot be reached: it does not speak TLS there; if it speaks HTTP without TLS, its address is ${plain}\n`,
  );
  assert.match(
    await list(secure.controlUrl.replace('https:', 'http:')),
    /^causeway: this port accepts HTTPS only, .* use an https:\/\/ URL\n$/,
  );
});

test('the help of serve shows units and defaults', async (t) => {
  const { stdout } = await runCommand(t, ['serve', '--help']);
  const help = stdout.replaceAll(/\s+/g, ' ');
  assert.match(help, /--cache-memory <value> [^-]*\(default: 256MB\)/);
  assert.match(help, /--stat-seconds <value> [^-]*\(seconds; default: 30\)/);
});
