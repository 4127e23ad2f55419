/** Many requests at once for one object: what they share, and what they never do. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { MemoryStore } from '../../src/edge/store/memory.ts';
import { connectRaw, SITE_HOST, startTestEdge, type TestEdge } from '../support/edge/edge.ts';
import { FRESH, reply, type SeenRequest, startOrigin } from '../support/edge/origin.ts';
import { overwrite } from '../support/edge/overwrite.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';

const COUNT = 20;

describe('20 concurrent requests for one object', () => {
  test('20 concurrent requests are one fetch if the answer is stored, with a length or in chunks', async (t) => {
    for (const isChunked of [false, true]) {
      const { edge, origin, held } = await startHeld(t);
      const all = askAll(edge);
      await eventually('led', () => held.length === 1);
      for (const { request, response } of held.splice(0)) {
        if (isChunked) response.writeHead(200, FRESH).end('shared');
        else reply('shared', FRESH)(request, response);
      }
      const answers = await all;
      assert.deepEqual(new Set(answers.map(({ status, body }) => `${status} ${body}`)), new Set(['200 shared']));
      assert.equal(origin.requests.length, 1);
    }
  });

  const unshared: readonly (readonly [what: string, headers: Record<string, string>])[] = [
    ['sets a cookie', { 'cache-control': 'public, max-age=60' }],
    ['is private', { 'cache-control': 'private, max-age=60' }],
    ['is not to be stored', { 'cache-control': 'no-store' }],
  ];
  for (const [what, headers] of unshared) {
    test(`20 concurrent requests never share an answer that ${what}; none queues behind the others`, async (t) => {
      const { edge, origin, held } = await startHeld(t);
      const all = askAll(edge);
      await eventually('led', () => held.length === 1);
      let count = 0;
      const answerHeld = () => {
        for (const { request, response } of held.splice(0)) {
          count++;
          const cookie = what === 'sets a cookie' ? { 'set-cookie': `s=${count}` } : {};
          reply(`for ${count}`, { ...headers, ...cookie })(request, response);
        }
      };
      answerHeld();
      // All the others come at once, not one after the other.
      await eventually('the others', () => held.length === COUNT - 1, 4_500); // sooner than a wait ends by itself
      answerHeld();
      const answers = await all;
      assert.equal(new Set(answers.map(({ body }) => body)).size, COUNT);
      if (what === 'sets a cookie')
        assert.equal(new Set(answers.map(({ headers }) => headers['set-cookie'])).size, COUNT);
      assert.equal(origin.requests.length, COUNT);
    });
  }

  test('20 concurrent requests for a stale object are one validation', async (t) => {
    const { edge, origin, held } = await startHeld(t);
    const first = edge.get('/');
    await eventually('asked', () => held.length === 1);
    for (const { request, response } of held.splice(0))
      reply('x', { 'cache-control': 'max-age=10', etag: '"1"' })(request, response);
    await first;
    edge.advance(20_000);
    const all = askAll(edge);
    await eventually('led', () => held.length === 1);
    for (const { response } of held.splice(0)) response.writeHead(304, { ...FRESH, etag: '"1"' }).end();
    assert.deepEqual(new Set((await all).map(({ status, body }) => `${status} ${body}`)), new Set(['200 x']));
    assert.equal(origin.requests.length, 2);
  });

  test('20 concurrent requests for two variants are two fetches', async (t) => {
    const { edge, origin, held } = await startHeld(t);
    const all = Array.from({ length: COUNT }, (_, i) => edge.get('/', { headers: ['X-A', String(i % 2)] }));
    for (let round = 0; round < 2; round++) {
      await eventually('asked', () => held.length === 1);
      for (const { request, response } of held.splice(0))
        reply(`for ${request.headers['x-a']}`, { ...FRESH, vary: 'X-A' })(request, response);
    }
    const answers = await Promise.all(all);
    assert.deepEqual(
      answers.map(({ body }) => body),
      Array.from({ length: COUNT }, (_, i) => `for ${i % 2}`),
    );
    assert.equal(origin.requests.length, 2);
  });

  test('20 concurrent requests proceed if the fetch fails, breaks off in its body, or its client leaves', async (t) => {
    const endings: readonly ((response: ServerResponse) => void)[] = [
      (response) => response.destroy(),
      (response) => {
        response.writeHead(200, { ...FRESH, 'content-length': '10' });
        response.write('abc', () => response.destroy());
      },
    ];
    for (const end of endings) {
      const { edge, held } = await startHeld(t);
      const all = askAll(edge);
      await eventually('led', () => held.length === 1);
      for (const { response } of held.splice(0)) end(response);
      await serveUntil(all, held);
      const good = (await all).filter(({ body, isWhole }) => body === 'good' && isWhole);
      assert.equal(good.length, COUNT - 1);
    }
    const { edge, origin, held } = await startHeld(t);
    const leader = connectRaw(edge.port, `GET / HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
    await eventually('led', () => held.length === 1);
    const all = askAll(edge);
    leader.socket.destroy();
    held.length = 0;
    await serveUntil(all, held);
    assert.deepEqual(new Set((await all).map(({ body }) => body)), new Set(['good']));
    assert.ok(origin.requests.length <= 3, `${origin.requests.length}`);
  });
});

test('a request whose look-up took longer than the fetch of another looks again, and fetches nothing', async (t) => {
  const origin = await startOrigin(t, reply('once', FRESH));
  const store = new MemoryStore({ maxBytes: 1024 * 1024, onFreed: overwrite });
  const find = store.find.bind(store);
  const late = Promise.withResolvers<void>();
  let looks = 0;
  // As a disk does: what it gives is as old as the question.
  const slowFind = async (key: string) => {
    const found = find(key);
    await late.promise;
    return found;
  };
  const edge = await startTestEdge(t, [origin.port], {
    store: Object.assign(store, { find: (key: string) => (looks++ === 0 ? slowFind(key) : find(key)) }),
  });
  const slow = edge.get('/');
  await eventually('it looks', () => looks === 1);
  assert.equal((await edge.get('/')).headers['x-cache'], 'MISS');
  late.resolve();
  assert.equal((await slow).headers['x-cache'], 'HIT');
  assert.equal(origin.requests.length, 1);
});

interface Held {
  readonly request: SeenRequest;
  readonly response: ServerResponse;
}

async function startHeld(t: { after(work: () => unknown): void }) {
  const held: Held[] = [];
  const { edge, origin } = await startSite(t, (request, response) => void held.push({ request, response }));
  return { edge, origin, held };
}

function askAll(edge: TestEdge) {
  return Promise.all(Array.from({ length: COUNT }, () => edge.get('/')));
}

/** Answers whatever reaches the origin until all have their answer. */
async function serveUntil(all: Promise<unknown>, held: Held[]): Promise<void> {
  let isDone = false;
  void all.finally(() => {
    isDone = true;
  });
  await eventually('all answered', () => {
    for (const { request, response } of held.splice(0)) reply('good', FRESH)(request, response);
    return isDone;
  });
}
