/**
 * Real traffic through a real service: log lines, statistics and metrics agree with each other and with what clients
 * received, exactly, whatever was killed meanwhile.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startByteCounter } from '../support/edge/byte-counter.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startS3Server } from '../support/logs/s3-server.ts';
import {
  accountOfGoAccess,
  agreed,
  curl,
  droppedLines,
  lostRequests,
  startTraffic,
} from '../support/logs/traffic-world.ts';
import { runCommand } from '../support/process/service.ts';
import { needs, obtain } from '../support/runner/needs.ts';

const NEEDS = needs('wrk', 'goaccess', 'nginx', 'curl');

// The statements behind these figures run on both engines in traffic-database.test.ts and test/api/traffic.test.ts.
test('traffic agrees in logs, statistics, metrics and at the clients', NEEDS, async (t) => {
  const world = await startTraffic(t);
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
  const { stdout } = await promisify(execFile)(obtain('wrk'), [
    '-t1',
    '-c8',
    '-d1s',
    '-H',
    'Host: www.example.com',
    address,
  ]);
  const complete = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  assert.ok(complete > 50, stdout);
  const all = await agreed(world, own.requests + complete);
  assert.ok(all.requests - own.requests - complete <= 8, `${all.requests} lines, ${complete} requests of wrk`);
  assert.equal(all.bytesOut - own.bytesOut, counter.toClients);
  assert.equal(all.bytesIn - own.bytesIn, counter.toEdge);

  assert.deepEqual(await accountOfGoAccess(t, world), { requests: all.requests, bytesOut: all.bytesOut });
  const { list } = await world.client.call('stat.top', { kind: 'url', domain: 'www.example.com' });
  assert.equal(list[0]?.value, '/small.txt');

  const settings = { CAUSEWAY_URL: world.service.controlUrl, CAUSEWAY_TOKEN: world.service.token };
  const command = async (...args: string[]) => (await runCommand(t, ['traffic', ...args], { settings })).stdout;
  const sums = await command('sums', 'www.example.com', '--interval', 'minute');
  assert.match(sums, /^\d{4}-\d\d-\d\dT\d\d:\d\d:00\+08:00 /m);
  assert.match(sums, new RegExp(`^TIME.*\\n(.*\\n)+total +${all.requests} +\\d+ +${all.bytesOut} `));
  assert.match(await command('top', 'url', '--limit', '1'), /^REQUESTS +BYTES +URL\n\d+ +\d+ +\/small\.txt\n$/);
  assert.match(
    await command('logs', 'www.example.com'),
    /^DAY +BYTES +NAME +URL\n\d{4}-\d\d-\d\d +\d+ +www\.example\.com_/,
  );
});

test(
  'a killed worker loses at most its last second, says how many requests that was, and nothing is counted twice',
  needs('nginx', 'curl'),
  async (t) => {
    const world = await startTraffic(t);
    const { service } = world;
    const answers: { readonly at: number; readonly bytes: number }[] = [];
    const ask = async () => {
      const { received: bytes } = await curl(world.edgePort, '/small.txt');
      if (bytes > 0) answers.push({ at: performance.now(), bytes });
      return bytes > 0;
    };
    const lost: { readonly bytes: number }[] = [];
    for (const part of ['edge-worker-1', 'edge-feed', 'edge-worker-2']) {
      for (let n = 0; n < 10; n++) await ask();
      await delay(500); // all of them are told, which takes 50 ms and what the machine is slow
      const now = performance.now();
      // Lines that are not appended yet; the process that reports to control holds nothing that is not on disk.
      if (part !== 'edge-feed') lost.push(...answers.filter(({ at }) => now - at < 1_000));
      const killed = service.pids()[part] ?? assert.fail(`there is no ${part}`);
      process.kill(killed, 'SIGKILL');
      await eventually('it is there again', () => (service.pids()[part] ?? killed) !== killed);
      await eventually('the edge answers', ask);
    }
    for (let n = 0; n < 10; n++) await ask();
    const sum = (of: readonly { readonly bytes: number }[]) => of.reduce((total, { bytes }) => total + bytes, 0);
    // Few of the last second are lost in fact, and all may agree before the others have come.
    const account = await eventually('what was not lost has come', async () => {
      const account = await agreed(world, answers.length - lost.length);
      return account.requests + (await lostRequests(world)) === answers.length && account;
    });
    assert.ok(account.bytesOut <= sum(answers), `${account.bytesOut} of ${sum(answers)}`);
    assert.ok(account.bytesOut >= sum(answers) - sum(lost), `${account.bytesOut} of ${sum(answers)}`);
  },
);

test(
  'traffic waits while control is away; files are stored in S3, and downloaded by the set address; a full disk costs log lines only',
  needs('nginx', 'curl'),
  async (t) => {
    const s3 = await startS3Server(t);
    const port = await freePort();
    const world = await startTraffic(t, {
      CAUSEWAY_CONTROL_LISTEN: `127.0.0.1:${port}`,
      CAUSEWAY_LOG_URL: `http://localhost:${port}/`,
      CAUSEWAY_LOG_STORE: `s3://${s3.bucket}/access`,
      CAUSEWAY_LOG_S3_ENDPOINT: s3.endpoint,
      CAUSEWAY_LOG_S3_ACCESS_KEY: s3.credentials.accessKey,
      CAUSEWAY_LOG_S3_SECRET_KEY: s3.credentials.secretKey,
    });
    const control = world.service.pids()['control'] ?? 0;
    process.kill(control, 'SIGSTOP');
    for (let n = 0; n < 5; n++) await curl(world.edgePort, '/small.txt');
    await delay(3_000);
    process.kill(control, 'SIGCONT');
    const account = await agreed(world, 5);
    assert.equal(account.requests, 5);
    const { logfiles } = await world.client.call('log.list', { domain: 'www.example.com' });
    assert.ok(logfiles[0]?.url.startsWith(`http://localhost:${port}/logs/`), JSON.stringify(logfiles));

    // A disk that takes nothing more: viewers are served, and what it costs is counted.
    assert.equal(await droppedLines(world), 0);
    const folder = join(world.service.dataDir, 'logs');
    renameSync(folder, `${folder}.away`);
    writeFileSync(folder, '');
    for (let n = 0; n < 5; n++) assert.ok((await curl(world.edgePort, '/small.txt')).received > 1000);
    await eventually('each line is counted', async () => (await droppedLines(world)) === 5);
  },
);
