/** Many small objects through the service's one edge worker, in memory alone: what the worker's process takes for it. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { startWithDomain } from '../process/service-with-domain.ts';
import { watchMemory } from '../resident.ts';

const MIB = 2 ** 20;
const ALLOWED_ABOVE_MIB = 150;
const PROGRAM = join(import.meta.dirname, 'many-keys.ts');

export async function passManyKeys(t: TestContext, keys: number, limitMib: number): Promise<void> {
  const origin = fork(PROGRAM, ['origin']);
  t.after(() => origin.kill());
  const [originPort] = await once(origin, 'message');
  const { edgePort, worker, service } = await startWithDomain(t, Number(originPort), {
    CAUSEWAY_CACHE_MEMORY: String(limitMib * MIB),
    CAUSEWAY_CACHE_DISK_SIZE: '0',
  });
  const memory = watchMemory(worker);
  const startedAt = performance.now();
  const viewers = fork(PROGRAM, ['client', String(edgePort), String(keys)]);
  t.after(() => viewers.kill());
  const [whole] = await once(viewers, 'message');
  const mostMib = memory.stop();
  const perSecond = Math.round((keys / (performance.now() - startedAt)) * 1_000);
  t.diagnostic(JSON.stringify({ keys, limitMib, mostMib, perSecond }));
  assert.equal(whole, keys);
  assert.ok(mostMib < limitMib + ALLOWED_ABOVE_MIB, `${mostMib} MiB`);
  assert.equal(await service.stop(), 0);
}
