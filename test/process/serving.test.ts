/** The service under way: stopping with requests, an edge without control, parts that fall silent, TLS, a terminal. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '#client/client.ts';
import { openDataDirectory } from '#lib/data-directory.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { definedSeries } from '../support/docs/metrics-table.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { COMMAND, runCommand, startService } from '../support/process/service.ts';
import { addDomain } from '../support/process/service-with-domain.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const HOST = 'www.example.com';
const SETTINGS = { CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8', CAUSEWAY_TOKEN_RATE_PER_SECOND: '10000' };

test('a request under way is finished when the service stops, and new ones are refused', async (t) => {
  let finish = () => {};
  const origin = await startOrigin(t, (_, response) => {
    if (origin.requests.length > 1) response.end('another');
    else finish = () => void response.end('late');
  });
  const service = await startService(t, { settings: SETTINGS });
  await addDomain(service, origin.port);
  const answer = getFromEdge(service.edgeUrl);
  await eventually('it is at the origin', () => origin.requests.length === 1);
  const code = service.stop();
  await eventually('the edge does not listen', async () => {
    const refused = await getFromEdge(service.edgeUrl).then(
      () => false,
      () => true,
    );
    return refused;
  });
  await eventually('it is told of', () => service.process.stdout().includes('requests in flight: '));
  finish();
  assert.deepEqual(await answer, { status: 200, body: 'late' });
  assert.equal(await code, 0);
  assert.match(
    service.process.stdout(),
    /causeway is stopping: .*\nrequests in flight: [1-9]\d*\ncauseway has stopped\n$/,
  );
});

test("requests to origins carry the installation's own name", async (t) => {
  const origin = await startOrigin(t, reply('a', { 'cache-control': 'no-store' }));
  const service = await startService(t, { settings: SETTINGS });
  await addDomain(service, origin.port);
  await eventually('the edge has the name', async () => {
    await getFromEdge(service.edgeUrl);
    return /^causeway-[0-9a-f]{8}$/.test(origin.requests.at(-1)?.headers['cdn-loop'] ?? '');
  });
  const { 'cdn-loop': loop, via } = origin.requests.at(-1)?.headers ?? {};
  assert.equal(via, `1.1 ${loop}`);
});

test('the health of the machine and the settings in force are those of the running service', async (t) => {
  const service = await startService(t, { settings: { ...SETTINGS, CAUSEWAY_SMS_CURRENCY: 'CNY/1000' } });
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token, locale: 'en' });
  let health = await client.call('operator.getHealth', {});
  await eventually('the queue has been looked at', async () => {
    health = await client.call('operator.getHealth', {});
    return health.sms.length === 3 && health.database.bytes !== undefined && health.feed.connected_edges === 1;
  });
  assert.deepEqual(
    health.parts.map(({ part, up, restarts }) => [part, up, restarts]),
    Object.keys(service.pids())
      .toSorted()
      .map((part) => [part, true, 0]),
  );
  assert.equal(health.feed.head_revision, health.feed.applied_revision);
  assert.equal(health.feed.connected_edges, 1);
  const { list } = await client.call('operator.getSettings', {});
  const shown = Object.fromEntries(list.map(({ name, value, state, source }) => [name, [value, state, source]]));
  assert.deepEqual(shown['sms-currency'], ['CNY/1000', 'shown', 'CAUSEWAY_SMS_CURRENCY']);
  assert.deepEqual(shown['database-url'], ['', 'unset', 'default']);
  assert.deepEqual(shown['data-dir']?.[0], service.dataDir);
  const { currency, currency_units } = await client.call('operator.listAccounts', {});
  assert.deepEqual([currency, currency_units], ['CNY', 1000]);
});

test('a second signal cuts requests in flight', async (t) => {
  const origin = await startOrigin(t, () => {});
  const service = await startService(t, { settings: SETTINGS });
  await addDomain(service, origin.port);
  const answer = getFromEdge(service.edgeUrl).then(
    () => 'answered',
    () => 'cut',
  );
  await eventually('it is at the origin', () => origin.requests.length === 1);
  service.process.child.kill('SIGTERM');
  await eventually('it is stopping', () => service.process.stderr().includes('"msg":"stopping"'));
  await delay(1100); // a second signal within a second is the same one, passed on twice
  service.process.child.kill('SIGTERM');
  assert.equal(await service.process.exit, 1, 'not the end of the time that requests have: that is 0');
  assert.match(service.process.stdout(), /\ncauseway has cut off requests in flight\n$/);
  assert.equal(await answer, 'cut');
});

test('an edge that starts without control serves the last settings it received', async (t) => {
  const origin = await startOrigin(t, (_, response) => response.end('from the origin'));
  const service = await startService(t, { settings: SETTINGS });
  const options = {
    dataDir: join(temporaryFolder(t), 'data'),
    settings: {
      ...SETTINGS,
      CAUSEWAY_ROLES: 'edge',
      CAUSEWAY_EDGE_ID: 'second',
      CAUSEWAY_FEED_SOCKET: join(service.dataDir, 'run', 'feed.sock'),
    },
  };
  const edge = await startService(t, options);
  await addDomain(service, origin.port);
  await eventually('it has them', async () => (await getFromEdge(edge.edgeUrl)).status === 200);
  assert.equal(await edge.stop(), 0);
  assert.equal(await service.stop(), 0);
  const alone = await startService(t, options);
  assert.equal(alone.controlUrl, '');
  assert.deepEqual(await getFromEdge(alone.edgeUrl), { status: 200, body: 'from the origin' });
});

test('no change takes effect while no worker runs', async (t) => {
  const service = await startService(t, { settings: { ...SETTINGS } });
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  const { hostname, port } = new URL(service.edgeUrl);
  const taken = createServer();
  t.after(() => taken.close());
  await eventually('its port is taken', async () => {
    const worker = service.pids()['edge-worker-1'];
    if (worker !== undefined) process.kill(worker, 'SIGKILL');
    taken.listen(Number(port), hostname);
    await once(taken, 'listening');
    return true;
  });
  const logs = (text: string) => eventually(text, () => service.process.stderr().includes(text));
  await logs('cannot restart; retrying');
  const { domain_id } = await client.call('domain.add', { domain: HOST, cdn_type: '1', data: '127.0.0.1:1' });
  await logs('no worker of this edge is running');
  const statusOf = async () => (await client.call('domain.get', { domain_id })).domain_status;
  assert.equal(await statusOf(), 1);
  taken.close();
  await eventually('it is in force', async () => (await statusOf()) === 2, 60_000);
});

test('a child process that does not report its metrics within a second is left out and counted', async (t) => {
  const service = await startService(t, { settings: { CAUSEWAY_EDGE_WORKERS: '2' } });
  const read = async () => (await fetch(service.metricsUrl)).text();
  const whole = await eventually('all are there', async () => {
    const text = await read();
    for (const part of ['supervisor', 'control', 'edge-feed', 'edge-worker-1', 'edge-worker-2'])
      assert.match(text, new RegExp(`process_cpu_seconds_total\\{process="${part}",role="`));
    return text;
  });
  assert.match(whole, /causeway_part_up\{part="control",.*\} 1/);
  const documented = definedSeries().map(({ name, type, meaning }) => `${name} ${meaning}; ${type}`);
  for (const [, name, help, type] of whole.matchAll(/^# HELP (causeway_\w+) (.*)\n# TYPE \S+ (\w+)$/gm))
    assert.ok(documented.includes(`${name} ${help}; ${type}`), `docs/metrics.md has no ${type} ${name}: ${help}`);
  assert.match(whole, /^# TYPE causeway_feed_reconnects_total counter$/m);
  for (const [, name] of whole.matchAll(/^# TYPE (causeway_\w+) counter$/gm)) assert.match(String(name), /_total$/);
  for (const [, name] of whole.matchAll(/^# HELP (causeway_\w+) .*since the start/gm))
    assert.match(String(name), /_total$/);
  const worker = service.pids()['edge-worker-2'] ?? 0;
  process.kill(worker, 'SIGSTOP');
  // The others are quick, but for a machine that has no time for them.
  const partial = await eventually('one is left out', async () => {
    const text = await read();
    return text.includes('process="edge-worker-1"') && text;
  });
  assert.match(partial, /causeway_part_metrics_missing_total\{part="edge-worker-2".*\} [1-9]/);
  assert.doesNotMatch(partial, /process="edge-worker-2"/);
  process.kill(worker, 'SIGCONT');
  assert.equal((await fetch(service.metricsUrl.replace('/metrics', '/'))).status, 404);
  assert.equal((await fetch(service.metricsUrl, { method: 'POST' })).status, 405);
  const absolute = request(service.metricsUrl, { path: service.metricsUrl }).end(); // RFC 9112 §3.2.2
  const [message] = await once(absolute, 'response');
  message.resume();
  assert.equal(message.statusCode, 200);
});

test(
  'control speaks TLS beyond loopback, and the commands of the machine trust its certificate',
  needs('openssl', 'ipv6'),
  async (t) => {
    const { cert, key } = createAuthority(t).issue(['control.example.com']);
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, 'cert.pem'), cert);
    writeFileSync(join(folder, 'key.pem'), key);
    const own = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
    for (const host of ['127.0.0.1', '0.0.0.0', '[::]', ...(own === undefined ? [] : [own])]) {
      const service = await startService(t, {
        settings: {
          CAUSEWAY_ROLES: 'control',
          CAUSEWAY_CONTROL_LISTEN: `${host}:0`,
          CAUSEWAY_CONTROL_TLS_CERT: join(folder, 'cert.pem'),
          CAUSEWAY_CONTROL_TLS_KEY: join(folder, 'key.pem'),
        },
      });
      assert.ok(service.controlUrl.startsWith(`https://${host}:`));
      const domains = await runCommand(t, ['domain', 'list', '--data-dir', service.dataDir]);
      assert.deepEqual(domains, { code: 0, stdout: 'ID  NAME  STATUS  ORIGINS\n', stderr: '' });
      const accounts = await runCommand(t, ['account', 'list', '--data-dir', service.dataDir]);
      assert.deepEqual([accounts.code, accounts.stderr], [0, ''], host);
      assert.equal(await service.stop(), 0);
    }
  },
);

test('the first access token is shown on a terminal', needs('script'), async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  const serve = `${process.execPath} ${COMMAND} serve --roles control --data-dir ${dataDir}`;
  const listen = '--control-listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0';
  const terminal = spawn(obtain('script'), ['-qec', `${serve} ${listen}`, '/dev/null'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  terminal.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  await eventually('it is ready', () => output.includes('causeway is ready'));
  terminal.kill('SIGTERM');
  await once(terminal, 'close');
  assert.match(output, /^token {4}cwy_[\w-]{43}\r?$/m);
  await eventually('the service has ended', () => openDataDirectory(dataDir, { make: false }).kind === 'directory');
});

function getFromEdge(edgeUrl: string): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${edgeUrl}/hello`, { headers: { host: HOST }, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode, body })).on('error', reject);
    });
    sent.on('error', reject).end();
  });
}
