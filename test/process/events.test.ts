/** Events of a whole service: each kind by its real cause, once at a real receiver, and none lost by kill -9. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createClient } from '#client/client.ts';
import { DAY_MS } from '#lib/durations.ts';
import { createQuickAuthority } from '../support/certificates/quick-authority.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { fetchFrom } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { type Receiver, startReceiver } from '../support/events/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { openTestDatabase, publishNow, siteSpec } from '../support/feed/feed.ts';
import { freePort } from '../support/free-port.ts';
import { type RunningService, runCommand, startService } from '../support/process/service.ts';
import { addDomain } from '../support/process/service-with-domain.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { startSmsc } from '../support/sms/smsc.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Limit for what takes half a minute or more by itself. */
const LONG_MS = 240_000;

function operate(t: TestContext, { dataDir }: RunningService) {
  return async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await runCommand(t, args, { settings: { CAUSEWAY_DATA_DIR: dataDir } });
    assert.equal(code, 0, stderr);
    return stdout;
  };
}

function clientOf({ controlUrl, token }: RunningService) {
  return createClient({ baseUrl: controlUrl, accessToken: token });
}

/** How often each kind came, by the name of its target. */
function counts({ posted }: Receiver, kind: string): Readonly<Record<string, number>> {
  const names = posted.filter(({ event }) => event.event === kind).map(({ event }) => event.target.name);
  return Object.fromEntries(names.map((name) => [name, names.filter((its) => its === name).length]));
}

function untilPosted(receiver: Receiver, kind: string, name: string): Promise<unknown> {
  return eventually(`${kind} of ${name}`, () => counts(receiver, kind)[name] !== undefined, LONG_MS);
}

test('origins, quotas, certificates and balances: the customer and the operator have each event once', async (t) => {
  const port = await freePort();
  const service = await startService(t, {
    settings: {
      CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
      CAUSEWAY_SMS_WEBHOOK_ALLOW: '127.0.0.0/8',
      CAUSEWAY_PURGE_URLS_PER_DAY: '5',
      CAUSEWAY_SMS_BALANCE_NEAR: '100',
      CAUSEWAY_ACME_DIRECTORY: 'https://127.0.0.1:1/directory',
      CAUSEWAY_LOCALE: 'en',
    },
  });
  const client = clientOf(service);
  const [operator, customer] = [await startReceiver(t), await startReceiver(t)];
  const { secret } = await client.call('event.setWebhook', { url: customer.url });
  assert.match(secret, /^[0-9a-f]{64}$/);
  assert.match(await operate(t, service)('events', 'set-webhook', operator.url), /^events are posted to /);
  await assert.rejects(client.call('event.setWebhook', { url: 'http://10.0.0.1/' }), /10\.0\.0\.1/);

  const { domain_id } = await addDomain(service, port);
  const edgePort = Number(new URL(service.edgeUrl).port);
  assert.equal((await fetchFrom(edgePort, '/a')).status, 502);
  await client.call('cache.purge', { urls: [1, 2, 3, 4].map((n) => `http://www.example.com/${n}`) });
  const { account_id } = await client.call('operator.createAccount', { name: 'shop' });
  await client.call('smsOperator.createApp', { account_id, name: 'shop', balance: 50 });
  const now = Date.now();
  const { certificate, key } = createQuickAuthority().issue('www.example.com', {
    from: now - 60 * DAY_MS,
    to: now + 90_000,
  });
  const added = await client.call('certificate.add', { ssl_title: 'one', private_key: key, certificate });
  await client.call('config.setSsl', { domain_id, ssl_control: 1, ssl_key: added.ssl_key });
  const other = await client.call('domain.add', {
    domain: 'other.example.com',
    cdn_type: '1',
    data: '192.0.2.1',
  });
  await client.call('config.requestCertificate', { domain_id: other.domain_id });

  await untilPosted(customer, 'origin.down', 'www.example.com');
  await startOrigin(t, reply('here'), { port });
  await untilPosted(customer, 'certificate.failing', 'other.example.com');
  const wanted = createQuickAuthority().issue('other.example.com', { from: now - DAY_MS, to: now + 300 * DAY_MS });
  const its = await client.call('certificate.add', {
    ssl_title: 'two',
    private_key: wanted.key,
    certificate: wanted.certificate,
  });
  await client.call('config.setSsl', { domain_id: other.domain_id, ssl_control: 1, ssl_key: its.ssl_key });
  for (const [kind, name] of [
    ['quota.near', 'shop'],
    ['certificate.expiring', 'www.example.com'],
    ['certificate.expired', 'www.example.com'],
    ['certificate.recovered', 'other.example.com'],
    ['origin.up', 'www.example.com'],
  ] as const)
    await untilPosted(operator, kind, name);
  await eventually('nothing waits', async () => /^causeway_event_deliveries\{.*\} 0$/m.test(await metricsOf(service)));
  for (const receiver of [operator, customer])
    for (const kind of ['origin.down', 'origin.up', 'certificate.expiring', 'certificate.expired'])
      assert.deepEqual(counts(receiver, kind), { 'www.example.com': 1 }, kind);
  for (const kind of ['certificate.failing', 'certificate.recovered'])
    assert.deepEqual(counts(operator, kind), { 'other.example.com': 1 }, kind);
  const quotas = operator.posted.filter(({ event }) => event.event === 'quota.near').map(({ event }) => event.data);
  assert.deepEqual(quotas.map(({ quota, used, limit }) => [quota, used, limit]).toSorted(), [
    ['purgeUrls', 4, 5],
    ['smsBalance', 50, 100],
  ]);
  const strangers = customer.posted.filter(({ event }) => event.account_id === account_id || event.account_id === '');
  assert.deepEqual(strangers, [], "only the account's own");
  const { list } = await client.call('event.list', { kinds: ['origin.down'] });
  assert.deepEqual(
    list.map(({ text }) => text),
    [`the origin 127.0.0.1:${port} of www.example.com is down (edges: 1, such as local)`],
  );
  assert.match(await operate(t, service)('events', 'list', '--kind', 'quota.near'), /SMS balance: 50 of 100/);
});

async function metricsOf({ metricsUrl }: RunningService): Promise<string> {
  return (await fetch(metricsUrl)).text();
}

test('edges, connectors, backups: the operator has each event once', needs('netSmpp'), async (t) => {
  const backups = join(temporaryFolder(t), 'backups');
  mkdirSync(backups);
  const old = join(backups, 'causeway-20250101T000000Z.ndjson');
  writeFileSync(old, '');
  utimesSync(old, new Date(Date.now() - 3 * DAY_MS), new Date(Date.now() - 3 * DAY_MS));
  const settings = { CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8', CAUSEWAY_BACKUP_DIRECTORY: backups };
  const service = await startService(t, { settings: { ...settings, CAUSEWAY_FLEET_LISTEN: '127.0.0.1:0' } });
  const command = operate(t, service);
  const receiver = await startReceiver(t);
  await command('events', 'set-webhook', receiver.url);
  const came = (kind: string, name: string) => untilPosted(receiver, kind, name);

  const fleet = /^fleet +(\S+)/m.exec(service.process.stdout())?.[1] ?? '';
  const token = join(temporaryFolder(t), 'token');
  writeFileSync(token, await command('edge', 'token', 'create', '--edge-id', 'fra1'));
  const dataDir = join(temporaryFolder(t), 'edge');
  const enrol = ['edge', 'enrol', '--data-dir', dataDir, '--control', fleet, '--token-file', token];
  assert.equal((await runCommand(t, enrol)).code, 0);
  const startEdge = () => startService(t, { dataDir, settings: { CAUSEWAY_ROLES: 'edge' } });
  const edge = await startEdge();
  await came('edge.enrol', 'fra1');
  await came('edge.state', 'fra1');

  const port = await freePort();
  const password = join(temporaryFolder(t), 'password');
  writeFileSync(password, 'secret\n');
  const carrier = ['--kind', 'smpp', '--host', '127.0.0.1', '--port', String(port), '--system-id', 'test'];
  await command('sms', 'connector', 'set', 'carrier', ...carrier, '--password-file', password);
  // Settings of a newer control.
  await using db = await openTestDatabase({ file: join(service.dataDir, 'causeway.db') });
  const site = { kind: 'site', key: 'a.example.com' } as const;
  await publishNow(db, { ...site, op: 'put', body: { ...siteSpec(1, 'a.example.com'), type: 'new' } });
  for (const name of ['local', 'fra1']) await came('edge.rejecting', name);
  await publishNow(db, { ...site, op: 'delete' });
  for (const name of ['local', 'fra1']) await came('edge.applying', name);

  await command('edge', 'drain', 'fra1');
  await command('edge', 'undrain', 'fra1');
  for (const kind of ['edge.drain', 'edge.undrain']) await came(kind, 'fra1');
  const worker = edge.pids()['edge-worker-1'] ?? 0;
  process.kill(worker, 'SIGSTOP');
  await came('edge.unhealthy', 'fra1');
  process.kill(worker, 'SIGCONT');
  for (const pid of [edge.process.child.pid ?? 0, ...Object.values(edge.pids())]) process.kill(pid, 'SIGKILL');
  await came('edge.away', 'fra1');
  const later = await startEdge();
  await came('edge.back', 'fra1');
  await later.stop();
  await command('edge', 'revoke', 'fra1', '--reason', 'a test');
  await command('edge', 'remove', 'fra1');
  for (const kind of ['edge.revoke', 'edge.remove']) await came(kind, 'fra1');

  await came('connector.unbound', 'carrier');
  await startSmsc(t, { port, password: 'secret' });
  await came('connector.bound', 'carrier');
  const [{ event: late } = assert.fail()] = receiver.posted.filter(({ event }) => event.event === 'backup.late');
  assert.equal(late.data['hours'], 72);
  await command('db', 'backup', '--backup-directory', backups);
  await came('backup.made', late.target.name);
  rmSync(old, { force: true });
  const repeated = receiver.posted
    .map(({ event }) => `${event.event} ${event.target.name}`)
    .filter((name, n, all) => all.indexOf(name) !== n && !name.startsWith('edge.state '));
  assert.deepEqual(repeated, []);
});

test('a disk that fills is told once', needs('mounts'), async (t) => {
  const folder = temporaryFolder(t);
  const receiver = await startReceiver(t);
  const script = 'mount -t tmpfs -o size=100m tmpfs "$0" && exec "$@"';
  const service = await startService(t, {
    inside: [obtain('mounts'), '-rm', 'sh', '-c', script, folder],
    dataDir: join(folder, 'data'),
    settings: {
      CAUSEWAY_BOOTSTRAP_TOKEN: 'a-token-of-the-test-that-is-long-enough',
      CAUSEWAY_CACHE_DISK_SIZE: '0',
      CAUSEWAY_LOG_SPOOL: '64MB',
      CAUSEWAY_ROLES: 'control',
    },
  });
  await clientOf(service).call('eventOperator.setWebhook', { url: receiver.url });
  // The file system is seen by the processes of the service alone.
  const file = join(`/proc/${service.process.child.pid}/root`, folder, 'fill');
  writeFileSync(file, Buffer.alloc(92 * 2 ** 20));
  await eventually('it is told', () => receiver.accepted().includes('disk.nearFull'), LONG_MS);
  const [{ event } = assert.fail()] = receiver.posted.filter((posted) => posted.event.event === 'disk.nearFull');
  assert.deepEqual([event.target.kind, event.data['disk']], ['machine', 'data']);
  assert.ok(Number(event.data['percent']) >= 85);
  assert.equal(receiver.accepted().filter((kind) => kind === 'disk.nearFull').length, 1);
});

describeOnBothEngines('a service that is killed', (newDatabase) => {
  test('an event that was being posted is posted again after kill -9, and none is told twice', async (t) => {
    const { url } = await newDatabase(t);
    const dataDir = join(temporaryFolder(t), 'data');
    const start = () =>
      startService(t, {
        dataDir,
        settings: {
          CAUSEWAY_PURGE_URLS_PER_DAY: '5',
          ...(url !== undefined && { DATABASE_URL: url }),
        },
      });
    const first = await start();
    const receiver = await startReceiver(t);
    receiver.answerWith(() => undefined); // it keeps the post open
    await operate(t, first)('events', 'set-webhook', receiver.url);
    await addDomain(first, 1);
    await clientOf(first).call('cache.purge', {
      urls: [1, 2, 3, 4].map((n) => `http://www.example.com/${n}`),
    });
    const near = () => receiver.posted.filter(({ event }) => event.event === 'quota.near');
    await eventually('it is being posted', () => near().length === 1, LONG_MS);
    for (const pid of [first.process.child.pid ?? 0, ...Object.values(first.pids())]) process.kill(pid, 'SIGKILL');
    await first.process.exit;
    receiver.answerWith(undefined);
    const second = await start();
    await eventually('it is posted again', () => receiver.accepted().includes('quota.near'), LONG_MS);
    const ids = new Set(near().map(({ event }) => event.event_id));
    assert.equal(ids.size, 1, 'the same event');
    const { list } = await clientOf(second).call('eventOperator.list', { kinds: ['quota.near'] });
    assert.equal(list.length, 1);
  });
});
