/** Many small objects through the service's one edge worker, in memory alone: what the worker's process takes for it. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createClient } from '#client/client.ts';
import { eventually } from './eventually.ts';
import { startService } from './service.ts';

const MIB = 2 ** 20;
const ALLOWED_ABOVE_MIB = 150;
const SAMPLE_MS = 100;
const PROGRAM = join(import.meta.dirname, 'many-keys.ts');

export async function passManyKeys(t: TestContext, keys: number, limitMib: number): Promise<void> {
  const origin = fork(PROGRAM, ['origin']);
  t.after(() => origin.kill());
  const [originPort] = await once(origin, 'message');
  const service = await startService(t, {
    settings: {
      CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
      CAUSEWAY_EDGE_WORKERS: '1',
      CAUSEWAY_CACHE_MEMORY: String(limitMib * MIB),
      CAUSEWAY_CACHE_DISK_SIZE: '0',
    },
  });
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  const request = { domain: 'www.example.com', cdn_type: '1', data: `127.0.0.1:${originPort}` };
  const { domain_id } = await client.call('domain.add', request);
  await eventually('it is in force', async () => (await client.call('domain.get', { domain_id })).domain_status === 2);
  const worker = service.pids()['edge-worker-1'] ?? 0;
  let mostMib = 0;
  const sampler = setInterval(() => {
    mostMib = Math.max(mostMib, residentMib(worker));
  }, SAMPLE_MS);
  t.after(() => clearInterval(sampler));
  const startedAt = performance.now();
  const viewers = fork(PROGRAM, ['client', new URL(service.edgeUrl).port, String(keys)]);
  t.after(() => viewers.kill());
  const [whole] = await once(viewers, 'message');
  const perSecond = Math.round((keys / (performance.now() - startedAt)) * 1_000);
  t.diagnostic(JSON.stringify({ keys, limitMib, mostMib, perSecond }));
  assert.equal(whole, keys);
  assert.ok(mostMib < limitMib + ALLOWED_ABOVE_MIB, `${mostMib} MiB`);
  assert.equal(await service.stop(), 0);
}

function residentMib(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib) / 1024);
}
