/** A service with traffic that logs, statistics, metrics and clients are asked about. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import type { Client } from '#client/transport.ts';
import { eventually } from '../eventually.ts';
import { startNginx } from '../nginx.ts';
import type { RunningService } from '../process/service.ts';
import { startWithDomain } from '../process/service-with-domain.ts';
import { obtain } from '../runner/needs.ts';
import { temporaryFolder } from '../temporary.ts';

const run = promisify(execFile);

export interface TrafficWorld {
  readonly service: RunningService;
  readonly client: Client;
  readonly edgePort: number;
  readonly domain_id: string;
}

export async function startTraffic(
  t: TestContext,
  settings: Readonly<Record<string, string>> = {},
): Promise<TrafficWorld> {
  const nginx = await startNginx(t);
  writeFileSync(join(nginx.root, 'small.txt'), 'x'.repeat(1000));
  writeFileSync(join(nginx.root, 'large.bin'), Buffer.alloc(300_000, 1));
  return await startWithDomain(t, nginx.address, {
    CAUSEWAY_EDGE_WORKERS: '2',
    CAUSEWAY_LOG_ROTATE_SECONDS: '1',
    CAUSEWAY_STAT_SECONDS: '1',
    CAUSEWAY_TOKEN_RATE_PER_SECOND: '100000',
    CAUSEWAY_TOKEN_RATE_BURST: '100000',
    ...settings,
  });
}

/** One request by curl. Gives the bytes that it received and sent. */
export async function curl(port: number, ...args: string[]): Promise<{ received: number; sent: number }> {
  const format = '%{size_header} %{size_download} %{size_request}';
  const options = ['-s', '-o', '/dev/null', '-H', 'Host: www.example.com', '-w', format];
  const { stdout } = await run(obtain('curl'), [
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

/** Sums up the day's file, read line by line. */
async function accountOfLogs({ client }: TrafficWorld): Promise<Account & { readonly lines: readonly string[][] }> {
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

async function accountOfStatistics({ client }: TrafficWorld): Promise<Account> {
  const asked = { domain: 'www.example.com', interval: 'minute' as const };
  const { total: traffic } = await client.call('stat.traffic', asked);
  const { total: requests } = await client.call('stat.requests', asked);
  const classes = requests.status_2xx + requests.status_3xx + requests.status_4xx + requests.status_5xx;
  assert.equal(classes, requests.requests);
  return { requests: requests.requests, bytesOut: traffic.bytes_out, bytesIn: traffic.bytes_in };
}

async function accountOfMetrics({ service, domain_id }: TrafficWorld): Promise<Account> {
  const text = await (await fetch(service.metricsUrl)).text();
  const read = (name: string) => {
    const line = text
      .split('\n')
      .find((one) => one.startsWith(`causeway_domain_${name}_total{`) && one.includes(`domain_id="${domain_id}"`));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  return { requests: read('requests'), bytesOut: read('bytes_out'), bytesIn: read('bytes_in') };
}

/** Requests lost by killed workers, as metrics count them. */
export function lostRequests(world: TrafficWorld): Promise<number> {
  return sumOfWorkers(world, 'lost_requests');
}

/** Lines dropped by a full disk. */
export function droppedLines(world: TrafficWorld): Promise<number> {
  return sumOfWorkers(world, 'dropped_lines');
}

async function sumOfWorkers({ service }: TrafficWorld, name: string): Promise<number> {
  const text = await (await fetch(service.metricsUrl)).text();
  const found = [...text.matchAll(new RegExp(`^causeway_access_log_${name}_total\\{.*\\} (\\d+)`, 'gm'))];
  assert.ok(found.length > 0, name);
  return found.reduce((sum, [, count]) => sum + Number(count), 0);
}

/** What Debian's GoAccess makes of the same lines, with the format that the README gives. */
export async function accountOfGoAccess(
  t: TestContext,
  world: TrafficWorld,
): Promise<Pick<Account, 'requests' | 'bytesOut'>> {
  const { lines } = await accountOfLogs(world);
  const folder = temporaryFolder(t);
  const file = join(folder, 'day.log');
  writeFileSync(file, lines.map((fields) => `${fields.join('\t')}\n`).join(''));
  const readme = readFileSync(join(import.meta.dirname, '..', '..', '..', 'README.md'), 'utf8');
  const [, format = ''] = /^(--log-format '.*)$/m.exec(readme) ?? [];
  const options = [...format.matchAll(/(--[a-z-]+) '([^']*)'/g)].flatMap(([, name = '', value = '']) => [name, value]);
  const report = join(folder, 'report.json');
  await run(obtain('goaccess'), [file, ...options, '--no-global-config', '-o', report]);
  const { general } = JSON.parse(readFileSync(report, 'utf8'));
  assert.equal(general.failed_requests, 0);
  return { requests: general.total_requests, bytesOut: general.bandwidth };
}

/** The account on which logs, statistics and metrics agree, once they do and have at least so many requests; waits for at most `limitMs`. */
export async function agreed(world: TrafficWorld, atLeast: number, limitMs = 60_000): Promise<Account> {
  return eventually(
    'logs, statistics and metrics agree',
    async () => {
      const statistics = await accountOfStatistics(world);
      if (statistics.requests < atLeast) return false;
      assert.deepEqual(await accountOfMetrics(world), statistics);
      // Last, for all lines are read for it: what is shipped meanwhile takes its time.
      const { lines: _, ...logs } = await accountOfLogs(world);
      assert.deepEqual(logs, statistics);
      return logs;
    },
    limitMs,
  );
}
