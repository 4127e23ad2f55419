/**
 * Where a private key must never be: in files of the service, in the edge's settings, in a log, in a dump of the database. And
 * what is refused: a key ring that others can read, one that is missing, a sealed key in another row.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import pg from 'pg';
import { createClient } from '#client/client.ts';
import type { Client } from '#client/transport.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { formsOf } from '../support/certificates/secret-forms.ts';
import { type DatabaseTarget, describeOnBothEngines } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type RunningService, runCommand, startService } from '../support/process/service.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

describeOnBothEngines('private keys', (newDatabase, engine) => {
  const needed = engine === 'postgres' ? needs('openssl', 'pgDump') : needs('openssl');
  test('private keys are stored only sealed, and can be opened only in their place', needed, async (t) => {
    const database = await newDatabase(t);
    const folder = temporaryFolder(t);
    const dataDir = join(folder, 'data');
    const settings = {
      CAUSEWAY_LOG_LEVEL: 'debug',
      ...(database.url !== undefined && { DATABASE_URL: database.url }),
    };
    const service = await startService(t, { dataDir, settings });
    const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token, locale: 'en' });
    const authority = createAuthority(t);
    const pairs = [authority.issue(['a.example.com']), authority.issue(['b.example.com'], { isRsa: true })];
    const keys: string[] = [];
    for (const [index, pair] of pairs.entries())
      keys.push(await addWithDomain(client, `${'ab'[index]}.example.com`, pair));
    const wrong = { ssl_title: 't', private_key: pairs[0]?.key ?? '', certificate: pairs[1]?.cert ?? '' };
    await assert.rejects(client.call('certificate.add', wrong), /does not belong/);

    // Handshakes work: what is hidden is there.
    await assertServed(service, authority.caFile, 'a.example.com', 'b.example.com');

    const found = search(
      service,
      database,
      pairs.flatMap(({ key }) => formsOf(key)),
    );
    assert.deepEqual(found, []);
    const places = search(service, database, ['a.example.com']).map((place) => place.replace(/-wal$/, ''));
    assert.ok(
      ['edge/sites.db', 'the dump'].every((place) => places.includes(place)),
      'the search finds what is there',
    );
    for (const file of ['keyring', 'edge/sites.db', 'edge/sites.db.key'])
      assert.equal(statSync(join(dataDir, file)).mode & 0o777, 0o600, file);

    // An edge without its key asks anew.
    rmSync(join(dataDir, 'edge/sites.db.key'));
    await eventually('the edge has a new key', () => globSync(join(dataDir, 'edge/sites.db.key')).length === 1);
    await assertServed(service, authority.caFile, 'a.example.com');

    // A sealed key that was moved to another row is told to the operator, and the certificates that were there stay.
    await swapSealedKeys(database, dataDir, keys);
    rmSync(join(dataDir, 'edge/sites.db.key'));
    const line = await eventually(
      'control says so',
      () =>
        /"msg":"cannot decrypt a secret; it is not sent to edges"/.test(service.process.stderr()) &&
        service.process.stderr(),
    );
    assert.match(
      line,
      /the secret in certificate\.private_key of \w+ does not open: it was moved there from another row, or is damaged/,
    );
    await service.stop();
    const logged = service.process.stderr() + service.process.stdout();
    assert.ok(!pairs.flatMap(({ key }) => formsOf(key)).some((form) => logged.includes(form)), 'a key is logged');

    const refused = async (pattern: RegExp) => {
      const { code, stderr } = await runCommand(t, ['account', 'list'], {
        settings: { ...settings, CAUSEWAY_DATA_DIR: dataDir },
      });
      assert.equal(code, 1);
      assert.match(stderr, pattern);
    };
    const ring = join(dataDir, 'keyring');
    copyFileSync(ring, join(folder, 'copy'));
    chmodSync(ring, 0o644);
    await refused(/the key ring \S+ may be read by others \(mode 644\): make it private with chmod 600/);
    rmSync(ring);
    await refused(/the key ring \S+ is missing: restore it from a copy/);
    writeFileSync(ring, `causeway-keyring-1\n0123456789abcdef ${Buffer.alloc(32).toString('base64')}\n`, {
      mode: 0o600,
    });
    await refused(/the key ring \S+ lacks keys that stored secrets are sealed with \([0-9a-f]{16}\): restore it/);
    await assert.rejects(startService(t, { dataDir, settings }), /control cannot start: the key ring \S+ lacks keys/);
    copyFileSync(join(folder, 'copy'), ring);
    const { code } = await runCommand(t, ['account', 'list'], {
      settings: { ...settings, CAUSEWAY_DATA_DIR: dataDir },
    });
    assert.equal(code, 0);
  });
});

/** Gives the `ssl_key`. */
async function addWithDomain(
  client: Client,
  domain: string,
  pair: { readonly key: string; readonly cert: string },
): Promise<string> {
  const { domain_id } = await client.call('domain.add', { domain, cdn_type: 1, data: '203.0.113.1' });
  const request = { ssl_title: domain, private_key: pair.key, certificate: pair.cert };
  const { ssl_key } = await client.call('certificate.add', request);
  await client.call('config.setSsl', { domain_id, ssl_control: 1, ssl_key });
  return ssl_key;
}

async function assertServed(
  { edgeHttpsUrl }: RunningService,
  caFile: string,
  ...names: readonly string[]
): Promise<void> {
  const { host } = new URL(edgeHttpsUrl);
  for (const name of names)
    await eventually(`${name} is served`, () => {
      const args = ['s_client', '-connect', host, '-servername', name, '-CAfile', caFile, '-verify_return_error'];
      try {
        return /Verification: OK/.test(
          execFileSync(obtain('openssl'), args, { input: '', stdio: ['pipe', 'pipe', 'ignore'] }).toString(),
        );
      } catch {
        return false;
      }
    });
}

/** Where any of the texts is: every file of the service, its output, and a dump of the database. */
function search(
  { dataDir, process }: RunningService,
  { url }: DatabaseTarget,
  texts: readonly string[],
): readonly string[] {
  const places = globSync('**/*', { cwd: dataDir }).flatMap((file): [string, string][] => {
    try {
      return [[file, readFileSync(join(dataDir, file), 'latin1')]];
    } catch {
      return []; // a folder, a socket, or what the service has just removed
    }
  });
  const dump = url === undefined ? dumpSqlite(join(dataDir, 'causeway.db')) : dumpPostgres(url);
  places.push(['the output', process.stderr() + process.stdout()], ['the dump', dump]);
  return places.flatMap(([place, content]) => (texts.some((text) => content.includes(text)) ? [place] : []));
}

function dumpSqlite(file: string): string {
  using database = new DatabaseSync(file, { readOnly: true });
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
  return tables.map(({ name }) => JSON.stringify(database.prepare(`select * from "${name}"`).all())).join('\n');
}

function dumpPostgres(url: string): string {
  return execFileSync(obtain('pgDump'), ['--inserts', url], { maxBuffer: 2 ** 26 }).toString('latin1');
}

/** Swaps sealed keys in the feed, as an attacker with access to the database could. */
async function swapSealedKeys(
  { url }: DatabaseTarget,
  dataDir: string,
  [one = '', two = '']: readonly string[],
): Promise<void> {
  const swap = `update resource set body = (select body from resource where kind = 'certificate' and key = '${two}') where kind = 'certificate' and key = '${one}'`;
  if (url === undefined) {
    using database = new DatabaseSync(join(dataDir, 'causeway.db'), { timeout: 5000 });
    database.exec(swap);
    return;
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(swap);
  await client.end();
}
