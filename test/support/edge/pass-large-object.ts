/** One large object through the service's one edge worker, twice: what the worker's process takes for it. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { startWithDomain } from '../process/service-with-domain.ts';
import { residentMib, watchMemory } from '../resident.ts';

const MIB = 2 ** 20;
const MAX_GROWTH_MIB = 64;
const WARM_MIB = 64;
const PROGRAM = join(import.meta.dirname, 'large-object.ts');

export async function passLargeObject(t: TestContext, mib: number): Promise<void> {
  const origin = fork(PROGRAM, ['origin']);
  t.after(() => origin.kill());
  const [originPort] = await once(origin, 'message');
  const { edgePort, worker, service } = await startWithDomain(t, Number(originPort), {
    CAUSEWAY_CACHE_MEMORY: '64MB',
    CAUSEWAY_CACHE_DISK_SIZE: '16GB',
  });
  // What any traffic brings into memory once: compiled code, connections, buffers that are used again.
  await pass(t, edgePort, WARM_MIB);
  const before = residentMib(worker);
  for (const number of [1, 2]) {
    const memory = watchMemory(worker);
    const cache = await pass(t, edgePort, mib);
    const growthMib = memory.stop() - before;
    t.diagnostic(JSON.stringify({ pass: number, cache, growthMib, processMib: before + growthMib }));
    assert.ok(growthMib < MAX_GROWTH_MIB, `${growthMib} MiB`);
    // On a disk that does not keep up the object is given up, and the second pass is a miss like the first.
    const isExpected = cache === (number === 1 ? 'MISS' : 'HIT') || service.process.stderr().includes('storeBusy');
    assert.ok(isExpected, cache);
  }
  assert.equal(await service.stop(), 0);
}

/** Gives what `X-Cache` said. */
async function pass(t: TestContext, edgePort: number, mib: number): Promise<string> {
  const client = fork(PROGRAM, ['client', String(edgePort), String(mib)]);
  t.after(() => client.kill());
  const [received] = await once(client, 'message');
  const { bytes, isRight, isWhole, cache } = Object(received);
  assert.deepEqual([bytes, isRight, isWhole], [mib * MIB, true, true]);
  return cache;
}
