/** Bodies of edges share a bounded amount of memory. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { createBodyReader } from './bodies.ts';
import { CrowdedError } from './crowded-error.ts';

const LIMITS = { totalBytes: 100, edgeBytes: 60 };

test('bodies are refused beyond the limits of an edge and of all, and their memory is free again', async (t) => {
  const w = await start(t);
  assert.equal(await w.post('a', 50), '50');
  assert.equal(await w.post('a', 61), 'crowded');
  assert.equal(await w.post('a', 71), 'too long', 'the limit of the message');
  w.isHolding = true;
  const held = [w.post('a', 50), w.post('b', 40)];
  await w.received(2);
  w.isHolding = false;
  assert.equal(await w.post('a', 20), 'crowded', 'it has 50 already');
  assert.equal(await w.post('c', 20), 'crowded', 'all have 90 already');
  await eventually('there is room for 10', async () => (await w.post('c', 10)) === '10');
  assert.equal(await w.post('', 70), '70', 'an edge of this machine is not limited');
  w.release();
  assert.deepEqual(await Promise.all(held), ['50', '40']);
  await eventually('it is free again', async () => (await w.post('a', 60)) === '60');
});

async function start(t: TestContext) {
  const read = createBodyReader(LIMITS);
  const waiting: (() => void)[] = [];
  const server = createServer(async (incoming, response) => {
    const edge = incoming.url?.slice(1) ?? '';
    const peer = edge === '' ? undefined : ({ kind: 'edge', edge, serial: '1', group: 'default' } as const);
    const { isHolding } = world;
    try {
      const body = await read(incoming, response, { maxBytes: 70, peer });
      if (isHolding) await new Promise<void>((resolve) => waiting.push(resolve));
      response.end(body === undefined ? 'too long' : String(body.length));
    } catch (error) {
      response.end(error instanceof CrowdedError ? 'crowded' : String(error));
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const world = {
    isHolding: false,
    async post(edge: string, bytes: number): Promise<string> {
      const outgoing = request({ host: '127.0.0.1', port, method: 'POST', path: `/${edge}`, agent: false });
      outgoing.end(Buffer.alloc(bytes));
      const [response] = await once(outgoing, 'response');
      let text = '';
      for await (const chunk of response) text += String(chunk);
      return text;
    },
    async received(count: number): Promise<void> {
      while (waiting.length < count) await new Promise((resolve) => setImmediate(resolve));
    },
    release(): void {
      for (const resolve of waiting) resolve();
    },
  };
  return world;
}
