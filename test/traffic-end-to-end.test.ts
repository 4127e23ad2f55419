/**
 * Real traffic through a real service: log lines, statistics and metrics agree with each other and with what clients
 * received, exactly, whatever was killed meanwhile.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { type Client, createClient } from '#client/client.ts';
import { startByteCounter } from './support/byte-counter.ts';
import { describeOnBothEngines, type NewDatabase, newSqlite } from './support/databases.ts';
import { eventually } from './support/eventually.ts';
import { needsProgram } from './support/needs.ts';
import { startNginx } from './support/nginx.ts';
import { type RunningService, startService } from './support/service.ts';
import { temporaryFolder } from './support/temporary.ts';

const run = promisify(execFile);

interface World {
  readonly service: RunningService;
  readonly client: Client;
  readonly edgePort: number;
  readonly domainId: string;
}

async function start(t: TestContext, newDatabase: NewDatabase): Promise<World> {
  const nginx = await startNginx(t);
  writeFileSync(join(nginx.root, 'small.txt'), 'x'.repeat(1000));
  writeFileSync(join(nginx.root, 'large.bin'), Buffer.alloc(300_000, 1));
  const { url } = await newDatabase(t);
  const service = await startService(t, {
    settings: {
      CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
      CAUSEWAY_LOG_ROTATE_SECONDS: '1',
      CAUSEWAY_STAT_SECONDS: '1',
      CAUSEWAY_TOKEN_RATE_PER_SECOND: '100000',
      CAUSEWAY_TOKEN_RATE_BURST: '100000',
      ...(url !== undefined && { DATABASE_URL: url }),
    },
  });
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  const { domain_id } = await client.call('domain.add', {
    domain: 'www.example.com',
    cdn_type: 1,
    data: nginx.address,
  });
  await eventually('it is in force', async () => (await client.call('domain.get', { domain_id })).domain_status === 2);
  return { service, client, edgePort: Number(new URL(service.edgeUrl).port), domainId: domain_id };
}

/** One request by curl. Gives the bytes that it received and sent. */
async function curl(port: number, ...args: string[]): Promise<{ received: number; sent: number }> {
  const format = '%{size_header} %{size_download} %{size_request}';
  const options = ['-s', '-o', '/dev/null', '-H', 'Host: www.example.com', '-w', format];
  const { stdout } = await run('curl', [
    ...options,
    `http://127.0.0.1:${port}${args[0] ?? '/'}`,
    ...args.slice(1),
  ]).catch(
    (error: { stdout: string }) => error, // it was told to leave early
  );
  const [header = 0, body = 0, sent = 0] = stdout.split(' ').map(Number);
  return { received: header + body, sent };
}

interface Account {
  readonly requests: number;
  readonly bytesOut: number;
  readonly bytesIn: number;
}

/** Of the day's file, read line by line. */
async function accountOfLogs({ client }: World): Promise<Account & { readonly lines: readonly string[][] }> {
  const { logfiles } = await client.call('log.list', { domain: 'www.example.com' });
  const texts = await Promise.all(
    logfiles.map(async ({ url, size }) => {
      const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
      assert.equal(String(bytes.length), size);
      return gunzipSync(bytes).toString();
    }),
  );
  const lines = texts.flatMap((text) => text.split('\n').slice(0, -1)).map((line) => line.split('\t'));
  for (const fields of lines) assert.equal(fields.length, 13, fields.join(' '));
  const sum = (field: number) => lines.reduce((total, fields) => total + Number(fields[field]), 0);
  return { lines, requests: lines.length, bytesIn: sum(3), bytesOut: sum(4) };
}

async function accountOfStatistics({ client }: World): Promise<Account> {
  const asked = { domain: 'www.example.com', interval: 'minute' as const };
  const { total: traffic } = await client.call('stat.traffic', asked);
  const { total: requests } = await client.call('stat.requests', asked);
  const classes = requests.status_2xx + requests.status_3xx + requests.status_4xx + requests.status_5xx;
  assert.equal(classes, requests.requests);
  return { requests: requests.requests, bytesOut: traffic.bytes_out, bytesIn: traffic.bytes_in };
}

async function accountOfMetrics({ service, domainId }: World): Promise<Account> {
  const text = await (await fetch(service.metricsUrl)).text();
  const read = (name: string) => {
    const line = text
      .split('\n')
      .find((one) => one.startsWith(`causeway_domain_${name}_total{`) && one.includes(`domain_id="${domainId}"`));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  return { requests: read('requests'), bytesOut: read('bytes_out'), bytesIn: read('bytes_in') };
}

/** What Debian's GoAccess makes of the same lines, with the format that the README gives. */
async function accountOfGoAccess(t: TestContext, world: World): Promise<Pick<Account, 'requests' | 'bytesOut'>> {
  const { lines } = await accountOfLogs(world);
  const folder = temporaryFolder(t);
  const file = join(folder, 'day.log');
  writeFileSync(file, lines.map((fields) => `${fields.join('\t')}\n`).join(''));
  const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');
  const [, format = ''] = /^(--log-format '.*)$/m.exec(readme) ?? [];
  const options = [...format.matchAll(/(--[a-z-]+) '([^']*)'/g)].flatMap(([, name = '', value = '']) => [name, value]);
  const report = join(folder, 'report.json');
  await run('goaccess', [file, ...options, '--no-global-config', '-o', report]);
  const { general } = JSON.parse(readFileSync(report, 'utf8'));
  assert.equal(general.failed_requests, 0);
  return { requests: general.total_requests, bytesOut: general.bandwidth };
}

/** The account on which logs, statistics and metrics agree, once they do and have at least so many requests. */
async function agreed(world: World, atLeast: number): Promise<Account> {
  return eventually(
    'logs, statistics and metrics agree',
    async () => {
      const { lines: _, ...logs } = await accountOfLogs(world);
      const statistics = await accountOfStatistics(world);
      const metrics = await accountOfMetrics(world);
      if (logs.requests < atLeast) return false;
      assert.deepEqual(statistics, logs);
      assert.deepEqual(metrics, logs);
      return logs;
    },
    30_000,
  );
}

const needed = needsProgram('wrk').skip ? needsProgram('wrk') : needsProgram('goaccess');

describeOnBothEngines('traffic', (newDatabase) => {
  test('agrees in logs, statistics, metrics and at the clients', needed, async (t) => {
    const world = await start(t, newDatabase);
    const counter = await startByteCounter(t, world.edgePort);
    const requests = [
      ['/small.txt'],
      ['/small.txt'],
      ['/small.txt', '-I'],
      ['/small.txt', '-r', '10-19'],
      ['/large.bin'],
      ['/missing'],
      ['/small.txt', '-d', 'a body of a request'],
      ['/small.txt', '-H', 'If-None-Match: *'],
      ['/a?q=%00%ff', '-g'],
    ];
    let received = 0;
    let sent = 0;
    for (const args of requests) {
      const one = await curl(world.edgePort, ...args);
      received += one.received;
      sent += one.sent;
    }
    const own = await agreed(world, requests.length);
    assert.deepEqual(own, { requests: requests.length, bytesOut: received, bytesIn: sent });

    // Load, by a client that leaves in the middle of answers.
    const address = `http://127.0.0.1:${counter.port}/small.txt`;
    const { stdout } = await run('wrk', ['-t1', '-c8', '-d1s', '-H', 'Host: www.example.com', address]);
    const complete = Number(/(\d+) requests in/.exec(stdout)?.[1]);
    assert.ok(complete > 50, stdout);
    const all = await agreed(world, own.requests + complete);
    assert.ok(all.requests - own.requests - complete <= 8, `${all.requests} lines, ${complete} requests of wrk`);
    assert.equal(all.bytesOut - own.bytesOut, counter.toClients);
    assert.equal(all.bytesIn - own.bytesIn, counter.toEdge);

    assert.deepEqual(await accountOfGoAccess(t, world), { requests: all.requests, bytesOut: all.bytesOut });
    const { list } = await world.client.call('stat.top', { kind: 'url', domain: 'www.example.com' });
    assert.equal(list[0]?.value, '/small.txt');
  });
});

// What control's database is makes no difference to these.
test('loses at most the last second of a killed worker, and counts nothing twice', async (t) => {
  const world = await start(t, newSqlite);
  const { service } = world;
  let received = 0;
  let recent = 0;
  let requests = 0;
  const times: number[] = [];
  const ask = async () => {
    const one = await curl(world.edgePort, '/small.txt');
    if (one.received === 0) return;
    requests++;
    times.push(performance.now());
    received += one.received;
  };
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 10; n++) await ask();
    const now = performance.now();
    recent += times.filter((at) => now - at < 1_000).length;
    const part = ['edge-worker-1', 'edge-feed', 'edge-worker-2'][round] ?? '';
    process.kill(service.pids()[part] ?? 0, 'SIGKILL');
    await delay(200);
    await eventually('it is there again', () => service.pids()[part] !== undefined);
    await eventually(
      'the edge answers',
      async () => (await curl(world.edgePort, '/small.txt')).received > 0 && countAsked(),
    );
  }
  function countAsked(): boolean {
    requests++;
    times.push(performance.now());
    return true;
  }
  for (let n = 0; n < 10; n++) await ask();
  const account = await agreed(world, requests - recent);
  assert.ok(account.requests <= requests, `${account.requests} of ${requests}`);
  assert.ok(account.bytesOut > 0 && received > 0);
});

test('waits for a control that is away', async (t) => {
  const world = await start(t, newSqlite);
  const control = world.service.pids()['control'] ?? 0;
  process.kill(control, 'SIGSTOP');
  for (let n = 0; n < 5; n++) await curl(world.edgePort, '/small.txt');
  await delay(3_000);
  process.kill(control, 'SIGCONT');
  const account = await agreed(world, 5);
  assert.equal(account.requests, 5);
});
