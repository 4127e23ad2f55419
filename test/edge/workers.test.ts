/** Two workers of one machine: each its own memory, one directory on disk. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestEdge } from '../support/edge/edge.ts';
import { reply, type ScriptedOrigin, startOrigin } from '../support/edge/origin.ts';
import { sharedStores } from '../support/edge/shared-store.ts';
import { eventually } from '../support/eventually.ts';

const FRESH = { 'cache-control': 'max-age=60', etag: '"1"' };
const MIB = 2 ** 20;

async function startWorkers(t: { after(work: () => unknown): void }, origin: ScriptedOrigin, memoryBytes = 16 * MIB) {
  const openStore = sharedStores(t, memoryBytes);
  const start = () => startTestEdge(t, [origin.port], { store: openStore() });
  return [await start(), await start()] as const;
}

for (const [what, memoryBytes] of [
  ['with memory', 16 * MIB],
  ['without memory', 0],
] as const) {
  test(`an object stored by one worker is a hit for the other, without a second fetch, ${what}`, async (t) => {
    const origin = await startOrigin(t, (request, response) => {
      reply(Buffer.alloc(Number(request.target.slice(1)), request.target), FRESH)(request, response);
    });
    const [first, second] = await startWorkers(t, origin, memoryBytes);
    const places = () => second.log.map((fields) => fields.result).filter((code) => code?.includes('HIT'));
    for (const path of ['/10', '/100000', '/5000000']) {
      const before = places().length;
      const { body } = await first.get(path);
      await eventually('on disk', async () => {
        const { headers } = await second.get(path, { headers: ['Cache-Control', 'only-if-cached'] });
        return headers['x-cache'] === 'HIT';
      });
      const other = await second.get(path);
      assert.deepEqual([other.headers['x-cache'], other.body === body], ['HIT', true]);
      const part = await second.get(path, { headers: ['Range', 'bytes=5-9'] });
      assert.deepEqual([part.status, part.body], [206, body.slice(5, 10)]);
      // What memory takes is read from the disk once.
      const later = memoryBytes > 0 && path !== '/5000000' ? 'TCP_MEM_HIT' : 'TCP_HIT';
      assert.deepEqual(places().slice(before), ['TCP_HIT/200', `${later}/200`, `${later}/206`], path);
    }
    assert.equal(origin.requests.length, 3);
  });
}

test('an object renewed by one worker is not validated again by the other', async (t) => {
  const origin = await startOrigin(t, reply('x', { 'cache-control': 'max-age=10', etag: '"1"' }));
  const [first, second] = await startWorkers(t, origin);
  await first.get('/');
  await eventually('on disk', async () => (await second.get('/')).headers['x-cache'] === 'HIT');
  for (const edge of [first, second]) edge.advance(20_000);
  const asked = origin.requests.length;
  const renewed = { 'cache-control': 'max-age=600', etag: '"1"' };
  origin.answer((_request, response) => response.writeHead(304, renewed).end());
  assert.equal((await first.get('/')).headers['x-cache'], 'REVALIDATED');
  await eventually('seen', async () => (await second.get('/')).headers['x-cache'] === 'HIT');
  assert.ok(origin.requests.length <= asked + 2, `${origin.requests.length}`);
});

test('an unsafe method at one worker drops the object of the other, in memory and on disk', async (t) => {
  const origin = await startOrigin(t, reply('old', FRESH));
  const [first, second] = await startWorkers(t, origin);
  await first.get('/');
  await eventually('on disk', async () => (await second.get('/')).headers['x-cache'] === 'HIT');
  origin.answer(reply('new', FRESH));
  await second.get('/', { method: 'PUT', body: 'x' });
  await eventually('gone from the first', async () => (await first.get('/')).body === 'new');
  assert.equal((await second.get('/')).body, 'new');
});

test('parts that two workers have stored are joined and completed on disk', async (t) => {
  const body = 'abcdefghijklmnopqrstuvwxyz';
  const origin = await startOrigin(t, (request, response) => {
    const [, from = '', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers['range'] ?? '') ?? [];
    if (from === '') return reply(body, FRESH)(request, response);
    const last = to === '' ? 25 : Number(to);
    const range = { 'content-range': `bytes ${from}-${last}/26` };
    reply(body.slice(Number(from), last + 1), { ...FRESH, ...range }, 206)(request, response);
  });
  const [first, second] = await startWorkers(t, origin, 0);
  await first.get('/', { headers: ['Range', 'bytes=0-9'] });
  await eventually('on disk', async () => {
    // A look that would fetch a part could find that one.
    const { headers } = await second.get('/', { headers: ['Range', 'bytes=1-2', 'Cache-Control', 'only-if-cached'] });
    return headers['x-cache'] === 'HIT';
  });
  assert.equal((await second.get('/')).body, body);
  assert.equal(origin.requests.at(-1)?.headers['range'], 'bytes=10-');
  await eventually('whole for the first', async () => (await first.get('/')).headers['x-cache'] === 'HIT');
  assert.equal((await first.get('/')).body, body);
});
