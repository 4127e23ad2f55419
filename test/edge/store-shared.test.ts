/** Two edges over one cache directory, as the workers of a machine are. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openStore } from '../../src/edge/store/open.ts';
import { startTestEdge, type TestEdge } from '../support/edge/edge.ts';
import { FRESH, reply, startOrigin } from '../support/edge/origin.ts';
import { overwrite } from '../support/edge/overwrite.ts';
import { storeFolder } from '../support/edge/store-folder.ts';
import { eventually } from '../support/eventually.ts';

const MIB = 2 ** 20;

async function startWorkers(
  t: TestContext,
  originPort: number,
  memoryBytes: number,
): Promise<readonly [TestEdge, TestEdge]> {
  const { directory, keep } = storeFolder(t);
  const start = () => {
    const onProblem = (problem: string, error: unknown) => t.diagnostic(`${problem} ${error}`);
    const store = keep(openStore({ onFreed: overwrite, memoryBytes, directory, diskBytes: 1_000 * MIB, onProblem }));
    return startTestEdge(t, [originPort], { store });
  };
  return [await start(), await start()];
}

for (const memoryBytes of [0, 16 * MIB]) {
  for (const size of [1_000, 6_000_000]) {
    test(`an object of ${size} bytes that one worker has fetched is a hit for the other (memory: ${memoryBytes / MIB} MiB)`, async (t) => {
      const body = 'x'.repeat(size);
      const origin = await startOrigin(t, reply(body, FRESH));
      const [a, b] = await startWorkers(t, origin.port, memoryBytes);
      assert.equal((await a.get('/')).headers['x-cache'], 'MISS');
      // The first may have it in memory only, so the other is asked; it may not ask the origin.
      const onlyStored = { headers: ['Cache-Control', 'only-if-cached'] };
      await eventually('on disk', async () => (await b.get('/', onlyStored)).headers['x-cache'] === 'HIT');
      const received = await b.get('/');
      assert.deepEqual([received.headers['x-cache'], received.body === body], ['HIT', true]);
      assert.equal((await b.get('/')).headers['x-cache'], 'HIT');
      assert.equal(origin.requests.length, 1);
    });
  }

  test(`a POST through one worker makes the object absent in the other (memory: ${memoryBytes / MIB} MiB)`, async (t) => {
    const origin = await startOrigin(t, reply('x', FRESH));
    const [a, b] = await startWorkers(t, origin.port, memoryBytes);
    await a.get('/');
    await eventually('stored', async () => (await b.get('/')).headers['x-cache'] === 'HIT');
    await a.get('/', { method: 'POST', body: 'new' });
    await eventually('the other hears of it', async () => (await b.get('/')).headers['x-cache'] === 'MISS');
  });
}
