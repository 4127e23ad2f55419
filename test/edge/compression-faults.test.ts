/** Compression while things go wrong: origins that break off or trickle, clients that leave or read slowly, too many at once. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { brotliDecompressSync, createGunzip, gunzipSync, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { type CodedEdge, someText, startCodedEdge } from '../support/edge/coded.ts';
import { connectRaw, SITE_HOST } from '../support/edge/edge.ts';
import { reply } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';

const HTML = { 'content-type': 'text/html', 'cache-control': 'max-age=60', etag: '"1"' };
const DYNAMIC = { 'content-type': 'application/json', 'cache-control': 'private' };
const MIB = 1024 * 1024;
const CACHE = { cacheBytes: 256 * MIB };

/** An origin that sends what the test lets it send. */
async function startHeld(t: { after(work: () => unknown): void }, headers: Record<string, string>) {
  const held: ServerResponse[] = [];
  const coded = await startCodedEdge(
    t,
    (_request, response) => {
      response.writeHead(200, headers);
      response.flushHeaders();
      held.push(response);
    },
    {},
    CACHE,
  );
  return { ...coded, held };
}

function openRaw({ edge }: CodedEdge, acceptEncoding = 'gzip') {
  const head = `GET / HTTP/1.1\r\nHost: ${SITE_HOST}\r\nAccept-Encoding: ${acceptEncoding}\r\nConnection: close\r\n\r\n`;
  return connectRaw(edge.port, head);
}

/** The chunks of an answer that may still be coming. */
function chunksOf(text: string): Buffer {
  let rest = text.slice(text.indexOf('\r\n\r\n') + 4);
  const chunks: string[] = [];
  for (;;) {
    const end = rest.indexOf('\r\n');
    const bytes = Number.parseInt(rest.slice(0, end), 16);
    if (end === -1 || !(bytes > 0) || rest.length < end + 2 + bytes) break;
    chunks.push(rest.slice(end + 2, end + 2 + bytes));
    rest = rest.slice(end + 4 + bytes);
  }
  return Buffer.from(chunks.join(''), 'latin1');
}

/** Decodes the bytes so far of a gzip stream. */
async function readSoFar(bytes: Buffer): Promise<string> {
  const gunzip = createGunzip();
  let text = '';
  gunzip.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  await new Promise<void>((resolve) => gunzip.write(bytes, () => resolve()));
  return text;
}

describe('an origin that breaks off', () => {
  for (const [what, headers] of [
    ['a page of known length', { ...HTML, 'content-length': '400000' }],
    ['a page of unknown length', HTML],
    ['an uncacheable response', DYNAMIC],
    ['an uncacheable response of known length', { ...DYNAMIC, 'content-length': '400000' }],
  ] as const) {
    test(`an origin that breaks off ${what} leaves every client a broken body, and nothing is stored`, async (t) => {
      const { held, get, edge, origin, ...rest } = await startHeld(t, headers);
      const coded = { held, get, edge, origin, ...rest };
      const clients = [openRaw(coded), openRaw(coded), openRaw(coded, 'identity')];
      const fetches = 'etag' in headers ? 1 : clients.length; // an uncacheable response is not shared
      await eventually('asked', () => held.length === fetches);
      for (const response of held) response.write(someText(50_000));
      await eventually('begun', () => clients.every((client) => client.text().length > 1000));
      for (const response of held) response.destroy();
      for (const client of clients) {
        const text = await client.closed;
        assert.match(text, /^HTTP\/1.1 200/);
        assert.ok(!text.endsWith('\r\n0\r\n\r\n'));
      }
      const body = someText(40_000);
      origin.answer(reply(body, headers === HTML ? HTML : { ...headers, 'content-length': '40000' }));
      for (const acceptEncoding of ['gzip', 'identity', 'gzip'])
        assert.equal((await get('/', acceptEncoding)).text, body);
    });
  }

  test('an origin that breaks off before the first byte of the body is answered 502', async (t) => {
    const { held, get } = await startHeld(t, { ...HTML, 'content-length': '100000' });
    const answer = get('/', 'br');
    await eventually('asked', () => held.length > 0);
    held[0]?.destroy();
    const { status, headers } = await answer;
    assert.deepEqual([status, headers['x-cache'], headers['content-encoding']], [502, 'ERROR originCut', undefined]);
  });
});

describe('a slow origin', () => {
  for (const [what, headers] of [
    ['a cacheable page', HTML],
    ['an uncacheable page', DYNAMIC],
  ] as const) {
    test(`the client of ${what} gets the bytes so far while its origin pauses`, async (t) => {
      const coded = await startHeld(t, headers);
      const client = openRaw(coded);
      await eventually('asked', () => coded.held.length === 1);
      const [first, second] = [someText(3000), someText(3000)];
      coded.held[0]?.write(first);
      await eventually('it is there', async () => (await readSoFar(chunksOf(client.text()))) === first);
      coded.held[0]?.end(second);
      assert.equal(gunzipSync(chunksOf(await client.closed)).toString(), first + second);
    });
  }

  test('clients in all codings share one fetch, and one compression for each coding', async (t) => {
    const coded = await startHeld(t, HTML);
    const decoders = {
      gzip: gunzipSync,
      br: brotliDecompressSync,
      zstd: zstdDecompressSync,
      identity: (b: Buffer) => b,
    };
    const clients = Object.keys(decoders).flatMap((name) => [1, 2, 3].map(() => ({ name, ...openRaw(coded, name) })));
    await eventually('asked', () => coded.held.length === 1);
    const body = someText(700_000);
    coded.held[0]?.write(body.slice(0, 400_000));
    await eventually('they read', () => clients.every((client) => client.text().length > 100_000));
    coded.held[0]?.end(body.slice(400_000));
    for (const { name, closed } of clients) {
      const bytes = decoders[name as keyof typeof decoders](chunksOf(await closed));
      assert.ok(bytes.toString('latin1') === body, name);
    }
    assert.deepEqual([coded.origin.requests.length, await coded.made()], [1, 3]);
    for (const name of ['gzip', 'br', 'zstd']) {
      const stored = await eventually('stored', async () => {
        const read = await coded.get('/', name);
        return read.headers['content-length'] !== undefined && read;
      });
      assert.ok(stored.text === body);
    }
    assert.equal(await coded.made(), 3);
  });
});

describe('clients of compressed pages', () => {
  test('the fetch and compression of an uncacheable page end when all clients have left', async (t) => {
    const coded = await startHeld(t, DYNAMIC);
    let closed = 0;
    for (let round = 1; round <= 3; round++) {
      const clients = Array.from({ length: 16 }, () => openRaw(coded));
      await eventually('asked', () => coded.held.length === 16 * round);
      for (const response of coded.held.slice(-16)) {
        response.once('close', () => closed++);
        response.write(someText(5000));
      }
      await eventually('begun', () => clients.every((client) => client.text().includes('Content-Encoding: gzip')));
      for (const { socket } of clients) socket.destroy();
      await eventually('dropped', () => closed === 16 * round);
    }
    assert.equal(await coded.made(), 48);
  });

  test('a page whose clients leave while it is stored is stored whole, not compressed', async (t) => {
    const coded = await startHeld(t, HTML);
    const client = openRaw(coded);
    await eventually('asked', () => coded.held.length === 1);
    const body = someText(60_000);
    coded.held[0]?.write(body.slice(0, 30_000));
    await eventually('begun', () => client.text().length > 1000);
    client.socket.destroy();
    await eventually('gone', () => coded.edge.log.length === 1);
    coded.held[0]?.end(body.slice(30_000));
    await eventually('stored', async () => (await coded.get('/')).headers['x-cache'] === 'HIT');
    assert.deepEqual([(await coded.get('/', 'gzip')).text, coded.origin.requests.length], [body, 1]);
  });

  test('clients that read nothing delay nobody', async (t) => {
    const body = someText(9 * MIB);
    const coded = await startCodedEdge(t, reply(body, HTML), {}, CACHE);
    await coded.get('/');
    const slow = openRaw(coded, 'br');
    slow.socket.pause();
    const quick = await coded.get('/', 'br');
    assert.deepEqual([quick.coding, quick.text === body], ['br', true]);
    const stored = await eventually('stored', async () => {
      const read = await coded.get('/', 'br');
      return read.headers['content-length'] !== undefined && read;
    });
    assert.ok(stored.text === body);
    slow.socket.resume();
    assert.ok(brotliDecompressSync(chunksOf(await slow.closed)).toString() === body);
    assert.equal(await coded.made(), 1);
  });

  test('clients beyond the compressions that one site may run get the page uncompressed', async (t) => {
    const coded = await startHeld(t, DYNAMIC);
    const clients = Array.from({ length: 20 }, () => openRaw(coded));
    await eventually('asked', () => coded.held.length === 20);
    const body = someText(5000);
    for (const response of coded.held) response.write(body);
    await eventually('begun', () => clients.every((client) => client.text().includes('Vary: Accept-Encoding')));
    for (const response of coded.held) response.end();
    const texts = await Promise.all(clients.map(({ closed }) => closed));
    const gzipped = texts.filter((text) => text.includes('Content-Encoding: gzip'));
    assert.equal(gzipped.length, 16);
    for (const text of texts) {
      const bytes = chunksOf(text);
      assert.equal((gzipped.includes(text) ? gunzipSync(bytes) : bytes).toString(), body);
    }
    assert.match(await coded.edge.registry.metrics(), /compressions_total\{coding="gzip",outcome="refused"\} 4/);
  });

  test('a page that came in one piece with its head is whole where it finds too many compressions', async (t) => {
    const held: ServerResponse[] = [];
    const body = someText(5000);
    const { edge, get } = await startCodedEdge(t, (request, response) => {
      if (request.target === '/late') return void response.writeHead(200, DYNAMIC).end(body);
      response.writeHead(200, DYNAMIC).write(body);
      held.push(response);
    });
    const first = Array.from({ length: 16 }, (_, i) => get(`/${i}`, 'gzip'));
    await eventually('under way', async () => held.length === 16 && edge.edge.underWay === 16);
    await eventually('compressed', async () => /outcome="made"\} 16/.test(await edge.registry.metrics()));
    const late = await get('/late', 'gzip');
    assert.deepEqual([late.coding, late.isWhole, late.text === body], [undefined, true, true]);
    for (const response of held) response.end();
    for (const { text } of await Promise.all(first)) assert.equal(text, body);
  });

  test('a stored page is served uncompressed only for a limited time', async (t) => {
    const body = someText(5000);
    const held: ServerResponse[] = [];
    const { edge, get } = await startCodedEdge(t, (request, response) => {
      if (request.target === '/stored') return reply(body, HTML)(request, response);
      response.writeHead(200, DYNAMIC).write(body);
      held.push(response);
    });
    const ask = () => get('/stored', 'br', { connection: 'keep-alive' });
    await get('/stored');
    const others = Array.from({ length: 16 }, (_, i) => get(`/${i}`, 'gzip'));
    await eventually('as many as may be', async () => /outcome="made"\} 16/.test(await edge.registry.metrics()));
    for (let i = 0; i < 3; i++) {
      const { coding, text } = await ask();
      assert.deepEqual([coding, text === body], [undefined, true]);
    }
    for (const response of held) response.end();
    await Promise.all(others);
    const { text } = await eventually('there is room again', async () => {
      const read = await ask();
      return read.coding === 'br' && read;
    });
    assert.ok(text === body);
  });
});

describe('a page whose length turns out too large', () => {
  test('a page that turns out too large is compressed to its end for its client, and its coded form is not kept', async (t) => {
    const body = someText(11 * MIB);
    const coded = await startCodedEdge(
      t,
      (_request, response) => {
        response.writeHead(200, HTML);
        response.end(body);
      },
      {},
      CACHE,
    );
    const slow = openRaw(coded);
    slow.socket.pause();
    const read = await coded.get('/', 'br');
    assert.deepEqual([read.coding, read.text === body], ['br', true]);
    slow.socket.resume();
    assert.ok(gunzipSync(chunksOf(await slow.closed)).toString() === body);
    const hit = await coded.get('/', 'br'); // now its length is known
    assert.deepEqual([hit.headers['x-cache'], hit.coding, hit.text === body], ['HIT', undefined, true]);
    assert.equal(coded.origin.requests.length, 1);
  });
});

test('any body, in any chunks and any coding, decodes to what the origin sent', async (t) => {
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync } as const;
  let chunks: readonly Buffer[] = [];
  let cacheControl = '';
  const { edge } = await startCodedEdge(t, (_request, response) => {
    response.writeHead(200, { ...HTML, 'cache-control': cacheControl });
    const rest = [...chunks];
    const next = () => {
      const piece = rest.shift();
      if (piece === undefined) response.end();
      else response.write(piece, next);
    };
    next();
  });
  const chunk = fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.integer({ min: 1, max: 300 }))
    .map(([bytes, times]) => Buffer.concat(Array.from({ length: times }, () => Buffer.from(bytes))));
  let run = 0;
  const property = fc.asyncProperty(
    fc.array(chunk, { minLength: 1, maxLength: 6 }),
    fc.constantFrom('br', 'gzip', 'zstd'),
    fc.constantFrom('max-age=60', 'no-store'),
    async (sent, coding, control) => {
      [chunks, cacheControl] = [sent, control];
      const path = `/${run++}`;
      const expected = Buffer.concat(sent);
      for (const _ of ['first', 'again']) {
        const read = await edge.get(path, { headers: ['Accept-Encoding', coding] });
        const bytes = Buffer.from(read.body, 'latin1');
        const isCoded = read.headers['content-encoding'] === coding;
        assert.ok(isCoded || expected.length < 1024);
        assert.ok((isCoded ? decoders[coding](bytes) : bytes).equals(expected));
      }
    },
  );
  await fc.assert(property, { numRuns: 40 });
});
