/** A certificate from Pebble for a domain of a real service: asked for on the command line, served by the edge, whatever is killed meanwhile. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { createClient } from '#client/client.ts';
import type { Client } from '#client/transport.ts';
import { type PebblePlace, placePebble } from '../support/certificates/pebble.ts';
import { newPostgres, newSqlite } from '../support/db/databases.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { type RunningService, runCommand, startService } from '../support/process/service.ts';
import { untilInForce } from '../support/process/service-with-domain.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const NAME = 'www.example.com';
const NEEDS = needs('pebble', 'openssl', 'curl');

test(
  'a service is killed while an authority validates, and obtains one certificate, which the edge serves',
  NEEDS,
  async (t) => {
    const place = await placePebble(t);
    const service = await start(t, place, await newSqlite(t));
    const pebble = await place.start({ httpPort: portOf(service.edgeUrl), names: [NAME], validationSeconds: 2 });
    const { client, domain_id } = await addDomain(t, service);
    await client.call('config.requestCertificate', { domain_id });
    const stateIs = (wanted: string) => async () =>
      (await client.call('config.getCertificateRequest', { domain_id })).state === wanted;
    await eventually('the edges know the challenge', stateIs('challenged'));
    const { control = 0 } = service.pids();
    process.kill(control, 'SIGKILL');
    await eventually('control is back', async () => {
      const now = service.pids()['control'];
      return now !== undefined && now !== control && (await fetch(`${service.controlUrl}/readyz`)).ok;
    });

    const settings = { CAUSEWAY_URL: service.controlUrl, CAUSEWAY_TOKEN: service.token };
    const asked = await runCommand(t, ['certificate', 'request', NAME, '--wait'], { settings });
    assert.equal(asked.code, 0, asked.stderr);
    assert.match(asked.stdout, /^state +issued$/m);
    assert.equal(pebble.log().match(/Issued certificate/g)?.length, 1);

    await untilInForce({ client, domain_id });
    const root = join(temporaryFolder(t), 'root.pem');
    writeFileSync(root, await pebble.root());
    const [httpPort, httpsPort] = [portOf(service.edgeUrl), portOf(service.edgeHttpsUrl)];
    const to = ['--cacert', root, '--connect-to', `${NAME}:443:127.0.0.1:${httpsPort}`];
    assert.equal((await run(obtain('curl'), ['-sS', '--max-time', '10', ...to, `https://${NAME}/`])).stdout, 'hello');
    const named = ['-servername', NAME, '-verify_hostname', NAME, '-verify_return_error', '-CAfile', root];
    const said = await run('sh', [
      '-c',
      'exec openssl s_client "$@" </dev/null',
      'sh',
      '-connect',
      `127.0.0.1:${httpsPort}`,
      ...named,
    ]);
    assert.match(said.stdout, /Verify return code: 0 \(ok\)/);
    const token = /acme-challenge\/([\w-]+)/.exec(await readLogs(service))?.[1] ?? '';
    assert.ok(token.length >= 22, 'the request of the authority is in the log');
    const url = `http://127.0.0.1:${httpPort}/.well-known/acme-challenge/${token}`;
    await eventually('what is over goes the ordinary way', async () => {
      return (await run(obtain('curl'), ['-sS', '-H', `Host: ${NAME}`, url])).stdout === 'hello';
    });

    const status = await runCommand(t, ['certificate', 'status', NAME], { settings });
    assert.match(status.stdout, /^renewal +\d{4}-\d\d-\d\dT/m);
    await client.call('domain.add', { domain: 'nowhere.example.com', cdn_type: '1', data: '127.0.0.1' });
    const failed = await runCommand(t, ['certificate', 'request', 'nowhere.example.com', '--wait'], { settings });
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /^causeway: no certificate: the certificate authority could not validate the name/);

    assert.equal(await service.stop(), 0);
    for (const file of filesUnder(service.dataDir)) {
      const bytes = readFileSync(file, 'latin1');
      // PEM, and the same in base64.
      assert.equal(/BEGIN (EC )?PRIVATE KEY|LS0tLS1CRUdJTiBQUklWQVRF/.test(bytes), false, file);
    }
    assert.doesNotMatch(service.process.stderr(), /PRIVATE KEY/);
  },
);

const BOTH =
  'two controls on one database: every edge has the challenge first, and one of them obtains the certificate';
test(BOTH, needs('postgres', 'pebble', 'openssl', 'curl'), async (t) => {
  const place = await placePebble(t);
  const database = await newPostgres(t);
  const keyring = join(temporaryFolder(t), 'keyring');
  const shared = { CAUSEWAY_KEYRING: keyring, CAUSEWAY_LOG_STORE_SHARED: 'true' };
  const one = await start(t, place, database, { CAUSEWAY_EDGE_ID: 'e1', ...shared });
  const two = await start(t, place, database, { CAUSEWAY_EDGE_ID: 'e2', ...shared });
  // The authority reaches the edge of the second one.
  const pebble = await place.start({ httpPort: portOf(two.edgeUrl), names: [NAME] });
  const bootstrap = one.token === '' ? two : one;
  const { client, domain_id } = await addDomain(t, bootstrap);
  // An edge is asked for the challenge when it has reported; a task shows which have.
  const { task_id } = await client.call('cache.purge', { domain_id });
  await eventually('both edges have reported', async () => {
    const { edges, state } = await client.call('cache.getTask', { task_id });
    return edges.length === 2 && state === 'done';
  });
  await client.call('config.requestCertificate', { domain_id });
  const isIssued = async () => (await client.call('config.getCertificateRequest', { domain_id })).state === 'issued';
  await eventually('it is issued', isIssued, 60_000);
  await untilInForce({ client, domain_id });
  assert.equal(pebble.log().match(/Issued certificate/g)?.length, 1);
  const root = join(temporaryFolder(t), 'root.pem');
  writeFileSync(root, await pebble.root());
  for (const { edgeHttpsUrl } of [one, two]) {
    const to = ['--cacert', root, '--connect-to', `${NAME}:443:127.0.0.1:${portOf(edgeHttpsUrl)}`];
    assert.equal((await run(obtain('curl'), ['-sS', '--max-time', '10', ...to, `https://${NAME}/`])).stdout, 'hello');
  }
});

const run = promisify(execFile);

function start(
  t: TestContext,
  { directory, caFile }: PebblePlace,
  { url }: { readonly url?: string },
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningService> {
  return startService(t, {
    settings: {
      CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
      CAUSEWAY_ACME_DIRECTORY: directory,
      CAUSEWAY_ACME_CA: caFile,
      CAUSEWAY_ACME_EMAIL: 'operator@example.com',
      ...(url !== undefined && { DATABASE_URL: url }),
      ...settings,
    },
  });
}

async function addDomain(t: TestContext, service: RunningService): Promise<{ client: Client; domain_id: string }> {
  const origin = await startOrigin(t, reply('hello'));
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  const data = `127.0.0.1:${origin.port}`;
  const { domain_id } = await client.call('domain.add', { domain: NAME, cdn_type: '1', data });
  return { client, domain_id };
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** What the workers have spooled. */
async function readLogs({ dataDir }: RunningService): Promise<string> {
  return await eventually('the line is in the log', () => {
    const logs = filesUnder(join(dataDir, 'logs')).map((file) => readFileSync(file, 'latin1'));
    return logs.find((text) => text.includes('acme-challenge'));
  });
}

function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
