/** Many clients of one object while it arrives: one fetch, each client at its own pace, and private responses never shared. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { connectRaw, SITE_HOST, type TestEdge } from '../support/edge/edge.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';

const FRESH = { 'cache-control': 'max-age=60', etag: '"1"' };
const MIB = 1024 * 1024;
const CACHE = { cacheBytes: 512 * MIB };
const GET = `GET / HTTP/1.1\r\nHost: ${SITE_HOST}\r\nConnection: close\r\n\r\n`;

const digest = (text: string) => createHash('sha256').update(text, 'latin1').digest('hex');

/** An origin that sends what the test lets it send. */
async function startSlow(
  t: { after(work: () => unknown): void },
  sizeBytes: number,
  headers: Record<string, string> = FRESH,
) {
  const body = randomBytes(sizeBytes);
  const held: ServerResponse[] = [];
  const { edge, origin } = await startSite(
    t,
    (_request, response) => {
      response.writeHead(200, { ...headers, 'content-length': String(sizeBytes) });
      response.flushHeaders();
      held.push(response);
    },
    CACHE,
  );
  return { body, held, origin, edge, expected: digest(body.toString('latin1')) };
}

function askAll(edge: TestEdge, count: number) {
  return Array.from({ length: count }, () => connectRaw(edge.port, GET));
}

function bodyOf(text: string): string {
  return text.slice(text.indexOf('\r\n\r\n') + 4);
}

describe('clients of one large object that is missing', () => {
  test('clients of one missing object share one fetch, and get each byte as it arrives', async (t) => {
    const { body, held, origin, edge, expected } = await startSlow(t, 8 * MIB);
    const first = askAll(edge, 20);
    await eventually('asked', () => held.length === 1);
    held[0]?.write(body.subarray(0, MIB));
    await eventually('all have it', () => first.every((client) => bodyOf(client.text()).length === MIB));
    const later = askAll(edge, 5);
    await eventually('the later ones too', () => later.every((client) => bodyOf(client.text()).length === MIB));
    held[0]?.end(body.subarray(MIB));
    for (const client of [...first, ...later]) {
      const text = await client.closed;
      assert.equal(digest(bodyOf(text)), expected);
    }
    assert.equal(origin.requests.length, 1);
    assert.equal((await edge.get('/')).headers['x-cache'], 'HIT');
  });

  test('a client that arrives when the beginning is gone fetches for itself, and stores nothing', async (t) => {
    const { body, held, origin, edge, expected } = await startSlow(t, 20 * MIB);
    const first = connectRaw(edge.port, GET);
    await eventually('asked', () => held.length === 1);
    held[0]?.write(body.subarray(0, 10 * MIB));
    await eventually('it has it', () => bodyOf(first.text()).length === 10 * MIB);
    const late = connectRaw(edge.port, GET);
    await eventually('asked again', () => held.length === 2);
    held[1]?.end(body);
    assert.equal(digest(bodyOf(await late.closed)), expected);
    assert.equal((await edge.get('/', { headers: ['Cache-Control', 'only-if-cached'] })).status, 504);
    held[0]?.end(body.subarray(10 * MIB));
    assert.equal(digest(bodyOf(await first.closed)), expected);
    assert.deepEqual([(await edge.get('/')).headers['x-cache'], origin.requests.length], ['HIT', 2]);
  });

  test('a slow client delays nobody, and gets the rest when it is stored, whether it is the first or a later one', async (t) => {
    for (const isFirst of [true, false]) {
      const { body, held, edge, origin, expected } = await startSlow(t, 40 * MIB);
      const slow = connectRaw(edge.port);
      const others: ReturnType<typeof connectRaw>[] = [];
      const ask = () => {
        slow.socket.write(GET);
        slow.socket.pause();
      };
      if (isFirst) ask();
      else others.push(connectRaw(edge.port, GET));
      await eventually('asked', () => held.length === 1);
      held[0]?.write(body.subarray(0, 1000));
      if (!isFirst) ask();
      others.push(...askAll(edge, 3));
      await eventually('begun', () => others.every((client) => bodyOf(client.text()).length === 1000));
      held[0]?.end(body.subarray(1000));
      for (const client of others) assert.equal(digest(bodyOf(await client.closed)), expected);
      assert.equal((await edge.get('/')).headers['x-cache'], 'HIT');
      slow.socket.resume();
      assert.equal(digest(bodyOf(await slow.closed)), expected);
      assert.equal(origin.requests.length, 1);
    }
  });

  test('a client that falls behind the kept bytes fetches the rest, if a strong tag proves it', async (t) => {
    const body = randomBytes(40 * MIB);
    const held: ServerResponse[] = [];
    const { edge, origin } = await startSite(
      t,
      (request, response) => {
        const [, from] = /^bytes=(\d+)-$/.exec(request.headers['range'] ?? '') ?? [];
        if (from !== undefined) {
          const contentRange = `bytes ${from}-${body.length - 1}/${body.length}`;
          response.writeHead(206, { ...FRESH, 'content-range': contentRange }).end(body.subarray(Number(from)));
          return;
        }
        response.writeHead(200, { ...FRESH, 'content-length': String(body.length) });
        response.write(body.subarray(0, 1000));
        held.push(response);
      },
      CACHE,
    );
    // Another object takes most of the room for bodies on their way.
    const other = connectRaw(edge.port, GET.replace('/', '/other'));
    await eventually('asked', () => held.length === 1);
    held[0]?.write(body.subarray(1000, 39 * MIB));
    await eventually('gathered', () => bodyOf(other.text()).length === 39 * MIB);
    const first = connectRaw(edge.port, GET);
    await eventually('asked', () => held.length === 2);
    const slow = connectRaw(edge.port, GET);
    await eventually('begun', () => bodyOf(slow.text()).length === 1000);
    slow.socket.pause();
    held[1]?.end(body.subarray(1000));
    assert.equal(bodyOf(await first.closed).length, body.length);
    slow.socket.resume();
    assert.equal(digest(bodyOf(await slow.closed)), digest(body.toString('latin1')));
    assert.equal(origin.requests.at(-1)?.headers['if-range'], '"1"');
    other.socket.destroy();
  });

  test('the others proceed if the first client leaves; if all leave early, the fetch ends', async (t) => {
    const { body, held, edge, origin, expected } = await startSlow(t, 40 * MIB);
    const first = connectRaw(edge.port, GET);
    await eventually('asked', () => held.length === 1);
    const others = askAll(edge, 5);
    held[0]?.write(body.subarray(0, 1000));
    await eventually('begun', () => others.every((client) => bodyOf(client.text()).length === 1000));
    first.socket.destroy();
    await first.closed;
    await edge.get('/', { host: 'unknown.example' }); // by now the edge knows that it has left
    held[0]?.end(body.subarray(1000));
    for (const client of others) assert.equal(digest(bodyOf(await client.closed)), expected);
    assert.equal(origin.requests.length, 1);

    const early = await startSlow(t, 40 * MIB);
    const all = askAll(early.edge, 3);
    await eventually('asked', () => early.held.length === 1);
    early.held[0]?.write(body.subarray(0, 1000));
    await eventually('begun', () => all.every((client) => bodyOf(client.text()).length === 1000));
    for (const client of all) client.socket.destroy();
    await eventually('dropped', () => early.held[0]?.destroyed);
  });

  test('a shared fetch that breaks off is cut for all, and not stored', async (t) => {
    const { body, held, edge } = await startSlow(t, 20 * MIB);
    const all = askAll(edge, 5);
    await eventually('asked', () => held.length === 1);
    held[0]?.write(body.subarray(0, 1000));
    await eventually('begun', () => all.every((client) => bodyOf(client.text()).length === 1000));
    held[0]?.destroy();
    for (const client of all) assert.equal(bodyOf(await client.closed).length, 1000);
    assert.equal((await edge.get('/', { headers: ['Cache-Control', 'only-if-cached'] })).status, 504);
  });

  test('a client with a current copy gets 304, one with an old tag the body', async (t) => {
    const { body, held, edge, expected } = await startSlow(t, 5 * MIB);
    const first = connectRaw(edge.port, GET);
    await eventually('asked', () => held.length === 1);
    held[0]?.write(body.subarray(0, 1000));
    assert.equal((await edge.get('/', { headers: ['If-None-Match', '"1"'] })).status, 304);
    const other = edge.get('/', { headers: ['If-None-Match', '"0"'] });
    held[0]?.end(body.subarray(1000));
    assert.equal(digest((await other).body), expected);
    await first.closed;
  });

  test('requests for another variant, for private responses and after a purge are not shared', async (t) => {
    const rows: readonly (readonly [what: string, headers: Record<string, string>])[] = [
      ['another variant', { ...FRESH, vary: 'X-A' }],
      ['private', { 'cache-control': 'private' }],
      ['purged', FRESH],
    ];
    for (const [what, headers] of rows) {
      const { body, held, edge, expected } = await startSlow(t, 5 * MIB, headers);
      const first = connectRaw(edge.port, GET);
      await eventually('asked', () => held.length === 1);
      held[0]?.write(body.subarray(0, 1000));
      await eventually('begun', () => bodyOf(first.text()).length === 1000);
      edge.advance(10);
      if (what === 'purged') edge.purge({ kind: 'site', target: '' });
      edge.advance(10);
      const second = edge.get('/', { headers: ['X-A', '1'] });
      await eventually(what, () => held.length === 2);
      for (const response of held.splice(1)) response.end(body);
      assert.equal(digest((await second).body), expected, what);
      held[0]?.end(body.subarray(1000));
      assert.equal(digest(bodyOf(await first.closed)), expected, what);
    }
  });
});

test('a body without a length that grows over the limit is still whole for all clients that share it', async (t) => {
  const body = randomBytes(12 * MIB);
  const held: ServerResponse[] = [];
  const { edge } = await startSite(
    t,
    (_request, response) => {
      response.writeHead(200, FRESH);
      response.write(body.subarray(0, 1000));
      held.push(response);
    },
    { cacheBytes: 32 * MIB },
  );
  const all = Array.from({ length: 4 }, () => edge.get('/'));
  await eventually('asked', () => held.length === 1 && edge.log.length === 0);
  await new Promise((resolve) => setImmediate(resolve));
  held[0]?.end(body.subarray(1000));
  await eventually('answered or asked again', () => {
    for (const response of held.splice(1)) response.end(body.subarray(1000));
    return edge.log.length === 4;
  });
  for (const answer of all) {
    const { body: received, isWhole } = await answer;
    assert.deepEqual([isWhole, digest(received)], [true, digest(body.toString('latin1'))]);
  }
});
