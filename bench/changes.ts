/**
 * A hundred changes of settings a second for a minute, while viewers are served: the latency of hits without and with them, each
 * failed answer, and how long after its answer the last change of each second was in force (read as state 2).
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '#client/client.ts';
import type { Client } from '#client/transport.ts';
import { askFor } from './support/ask-for.ts';
import { formatMs, percentiles, timed } from './support/percentiles.ts';
import { startService } from './support/service.ts';
import { askSteadily } from './support/steady-load.ts';

const DOMAINS = 100;
const SECONDS = 60;
const CHANGES_PER_SECOND = 100;
const HITS_PER_SECOND = 500;
const BODY = Buffer.alloc(10 * 1024, 'x');

const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
const origin = createServer((_request, response) => {
  response.writeHead(200, { 'cache-control': 'max-age=36000', 'content-length': String(BODY.length) }).end(BODY);
}).listen(0, '127.0.0.1');
await once(origin, 'listening');

try {
  const dataDir = join(folder, 'data');
  await using service = await startService(dataDir, {
    CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
    CAUSEWAY_TOKEN_RATE_PER_SECOND: '100000',
    CAUSEWAY_EDGE_WORKERS: '1',
  });
  const accessToken = readFileSync(join(dataDir, 'first-token'), 'utf8').trim();
  const client = createClient({ baseUrl: service.controlUrl, accessToken });
  const ids = await addDomains(client);
  await Promise.all(ids.map((_, index) => untilServed(service.edgePort, nameOf(index))));
  await hit(service.edgePort, 5); // warm
  console.log(`hits without changes: ${await hit(service.edgePort, SECONDS / 2)}`);
  const [hits, changes] = await Promise.all([hit(service.edgePort, SECONDS), change(client, ids)]);
  console.log(`hits with ${CHANGES_PER_SECOND} changes a second: ${hits}`);
  console.log(`changes: ${changes}`);
} finally {
  origin.close();
  rmSync(folder, { recursive: true });
}

function nameOf(index: number): string {
  return `site-${index}.example.com`;
}

async function addDomains(client: Client): Promise<string[]> {
  const address = origin.address();
  const data = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const ids: string[] = [];
  for (let index = 0; index < DOMAINS; index++) {
    const { domain_id } = await client.call('domain.add', { domain: nameOf(index), cdn_type: '1', data });
    ids.push(domain_id);
  }
  return ids;
}

async function untilServed(port: number, host: string): Promise<void> {
  for (;;) {
    try {
      return await askFor(port, host);
    } catch {
      await delay(20);
    }
  }
}

async function hit(port: number, seconds: number): Promise<string> {
  const hosts = Array.from({ length: DOMAINS }, (_, index) => nameOf(index));
  const { latenciesMs, failed } = await askSteadily({
    port,
    hosts,
    seconds,
    perSecond: HITS_PER_SECOND,
    bodyBytes: BODY.length,
  });
  return `${formatMs(percentiles(latenciesMs))}, ${latenciesMs.length} answered, ${failed} failed`;
}

async function change(client: Client, ids: readonly string[]): Promise<string> {
  const inForceMs: number[] = [];
  let changed = 0;
  const startedAt = performance.now();
  for (let second = 0; second < SECONDS; second++) {
    for (let i = 0; i < CHANGES_PER_SECOND; i++) {
      const dueMs = startedAt + second * 1000 + (i * 1000) / CHANGES_PER_SECOND - performance.now();
      if (dueMs > 1) await delay(dueMs);
      const domain_id = ids[changed % ids.length] ?? '';
      const policy = [
        {
          is_cache: 1 as const,
          priority: 1 + (changed % 99),
          policy_type: 'prefix',
          policy_scheme: 'http',
          content: '/',
          time_h: 1,
        },
      ];
      await client.call('config.setPolicies', { domain_id, use_header_setting: '1', policy });
      changed++;
    }
    const last = ids[(changed - 1) % ids.length] ?? '';
    inForceMs.push(await timed(() => untilInForce(client, last)));
  }
  const perSecond = (changed * 1000) / (performance.now() - startedAt);
  return `${changed}, ${perSecond.toFixed(0)} a second; in force after the answer: ${formatMs(percentiles(inForceMs))}`;
}

async function untilInForce(client: Client, domain_id: string): Promise<void> {
  while ((await client.call('domain.get', { domain_id })).domain_status !== 2) await delay(2);
}
