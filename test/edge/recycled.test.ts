/**
 * Memory of bodies is used again and again: whatever is stored, evicted, replaced and purged meanwhile, and however slowly clients
 * read, no answer has a byte of another object. Freed memory is overwritten here, so that a reader without a hold shows.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { SLICE_BYTES } from '../../src/edge/fetch/slices/layout.ts';
import { MemoryStore } from '../../src/edge/store/memory.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import { answerOf, ask, open } from '../support/edge/http2-client.ts';
import { type HttpsEdge, startHttpsEdge } from '../support/edge/https-edge.ts';
import type { Answer } from '../support/edge/origin.ts';
import { overwrite } from '../support/edge/overwrite.ts';
import { serveObject } from '../support/edge/sliceable.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const KIB = 1024;
const SIZES = [100, 9 * KIB, 40 * KIB, 100 * KIB, 300 * KIB, 900 * KIB, 2_500 * KIB];
const CODED = 'coded.example.com';
const SLICED = 'sliced.example.com';
/** Room for a few of the objects: nearly each one that comes evicts another. */
const CACHE_BYTES = 24 * KIB * KIB;

/** The body of the object with that number: each four bytes name the object and their place in it. */
function bodyOf(number: number): Buffer {
  const bytes = Buffer.alloc(SIZES[number % SIZES.length] ?? 0);
  for (let at = 0; at + 4 <= bytes.length; at += 4) bytes.writeUInt32LE((number << 20) | (at >> 2), at);
  return bytes;
}

const numberOf = (target: string) => Number(/\d+/.exec(target)?.[0]);

/** Now and then a 200 where a 304 would do, so that bodies are replaced. */
const origin: Answer = (request, response) => {
  const number = numberOf(request.target);
  if (request.method !== 'GET') return void response.writeHead(204).end();
  const headers = {
    'cache-control': 'max-age=60, stale-while-revalidate=60',
    'content-type': 'text/html',
  };
  const bytes = bodyOf(number);
  if (number % 3 === 0 && request.headers.range === undefined) {
    // In pieces, and without a length.
    response.writeHead(200, { ...headers, etag: '"1"' });
    for (let at = 0; at < bytes.length; at += 50_000) response.write(bytes.subarray(at, at + 50_000));
    response.end();
  } else serveObject(request, response, { bytes, etag: '"1"', headers });
};

/** Park and Miller's generator: the same load each time. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/** Answers on one connection, for requests that are sent at once. */
interface Pipelined {
  readonly numbers: readonly number[];
  readonly socket: Socket;
  readonly received: Buffer[];
}

function pipeline(socket: Socket, numbers: readonly number[]): Pipelined {
  const received: Buffer[] = [];
  socket.on('error', () => undefined); // shows as an answer that is cut
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  for (const number of numbers) socket.write(`GET /${number} HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
  return { numbers, socket, received };
}

/** How many answers are whole; throws if one has other bytes than those of its object. */
function checkPipelined({ numbers, received }: Pipelined): number {
  let rest = Buffer.concat(received);
  for (const [index, number] of numbers.entries()) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd === -1) return index;
    const head = rest.toString('latin1', 0, headEnd);
    assert.match(head, /^HTTP\/1\.1 200 /);
    const expected = bodyOf(number);
    const { body, end } = takeBody(rest.subarray(headEnd + 4), head, expected.length);
    checkBytes(body, expected, `${number}: ${head}`);
    if (end === undefined) return index;
    rest = rest.subarray(headEnd + 4 + end);
  }
  return numbers.length;
}

/** `end`: where the next answer begins; `undefined`: this one is not whole. */
function takeBody(bytes: Buffer, head: string, lengthBytes: number): { readonly body: Buffer; readonly end?: number } {
  if (!/transfer-encoding: chunked/i.test(head)) {
    const body = bytes.subarray(0, lengthBytes);
    return body.length < lengthBytes ? { body } : { body, end: lengthBytes };
  }
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return { body: Buffer.concat(pieces) };
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (size === 0) return { body: Buffer.concat(pieces), end: lineEnd + 4 };
    pieces.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 4 + size;
    if (at > bytes.length) return { body: Buffer.concat(pieces) };
  }
}

function checkBytes(body: Buffer, expected: Buffer, what: string): void {
  if (body.equals(expected.subarray(0, body.length))) return;
  const at = body.findIndex((byte, i) => byte !== expected[i]);
  assert.fail(`${what}: from ${at} of ${expected.length}: ${body.subarray(at, at + 16).toString('hex')}`);
}

async function startRecyclingEdge(t: TestContext) {
  const store = new MemoryStore({ maxBytes: CACHE_BYTES, onFreed: overwrite });
  const edge = await startHttpsEdge(t, origin, {
    store,
    maxLagBytes: CACHE_BYTES,
    limits: { clientIdleMs: 600_000 }, // nobody is cut on a crowded machine
  });
  const origins = { protocol: 'http', backup: [], hostHeader: '', probePath: '' } as const;
  const primary = [{ host: '127.0.0.1', port: edge.origin.port }];
  edge.put({ name: CODED, origins: { ...origins, primary }, pageCompress: true });
  edge.put({ name: SLICED, origins: { ...origins, primary }, rangeBackSource: true });
  return { store, edge };
}

/** No body that has left the store is held any more. */
async function checkReleased(store: MemoryStore): Promise<void> {
  await eventually('released', () => store.pool.orphanBytes === 0);
}

/** When all objects of the first site are purged, and there were no others, all memory is free. */
async function checkEmpty(store: MemoryStore): Promise<void> {
  await eventually('empty', () => {
    for (const from of [0, 1_000])
      for (let n = from; n < from + 150; n++) store.invalidate(`1  ${SITE_HOST} /${n}`, Date.now() + 1_000_000);
    return store.pool.freeBytes === store.pool.bytes;
  });
}

describe('clients of objects that come and go', () => {
  const pauses = needs('openssl');

  test('answers of every kind have the bytes of their object', pauses, async (t) => {
    const { store, edge } = await startRecyclingEdge(t);
    const random = createRandom(7);
    const kinds = ['whole', 'whole', 'whole', 'range', 'coded', 'sliced', 'change', 'old', 'gone'] as const;
    const one = async (): Promise<void> => {
      const number = random(42);
      const expected = bodyOf(number);
      const kind = kinds[random(kinds.length)];
      switch (kind) {
        case 'range': {
          const [first, length] = [random(expected.length), 1 + random(200 * KIB)];
          const { body, status } = await edge.get(`/${number}`, {
            headers: ['Range', `bytes=${first}-${first + length}`],
          });
          assert.ok(status === 206 || status === 200);
          const part = status === 200 ? expected : expected.subarray(first, first + length + 1);
          return checkBytes(Buffer.from(body, 'latin1'), part, `range of ${number}`);
        }
        case 'coded': {
          const { body, headers } = await edge.get(`/${number}`, { host: CODED, headers: ['Accept-Encoding', 'gzip'] });
          const bytes = Buffer.from(body, 'latin1');
          const isCoded = headers['content-encoding'] === 'gzip';
          return checkBytes(isCoded ? gunzipSync(bytes) : bytes, expected, `coded ${number}`);
        }
        case 'change':
          edge.advance(random(2) * 61_000);
          if (random(2) === 0) await edge.get(`/${number}`, { method: 'POST', body: 'x' });
          return;
        case 'gone': {
          const socket = connect(edge.port, '127.0.0.1');
          const asked = pipeline(socket, [number]);
          socket.once('data', () => socket.destroy());
          await eventually('gone', () => socket.destroyed);
          return void checkPipelined(asked);
        }
        default: {
          const host = kind === 'sliced' ? SLICED : SITE_HOST;
          const { body, status } = await edge.get(`/${number}`, { host, connection: 'keep-alive' });
          assert.equal(status, 200);
          return checkBytes(Buffer.from(body, 'latin1'), expected, `${kind} ${number}`);
        }
      }
    };
    for (let round = 0; round < 12; round++) await Promise.all(Array.from({ length: 8 }, one));
    assert.ok(store.pool.bytes <= CACHE_BYTES);
    await checkReleased(store);
  });

  for (const [version, isTls] of [
    ['HTTP/1.1', false],
    ['HTTP/1.1 by TLS', true],
  ] as const) {
    test(`clients of ${version} that stop reading get the bytes of their objects`, pauses, async (t) => {
      const { store, edge } = await startRecyclingEdge(t);
      const random = createRandom(11);
      const slow: Pipelined[] = [];
      for (let i = 0; i < 3; i++) {
        // Hits and misses of large objects, more than the system's buffers on the way take.
        const number = 6 + 7 * random(5);
        const client = pipeline(
          dial(edge, isTls),
          Array.from({ length: 8 }, (_, n) => (n % 4 === 3 ? 5 + 7 * random(5) : number)),
        );
        client.socket.once('data', () => client.socket.pause());
        slow.push(client);
        await eventually('begun', () => client.received.length > 0);
        await askOthers(edge, random, 6);
      }
      await askOthers(edge, random, 12);
      for (const { socket } of slow) socket.resume();
      const isDone = (client: Pipelined) => client.socket.closed || checkPipelined(client) === client.numbers.length;
      for (const client of slow) await eventually('all arrived', () => isDone(client), 30_000);
      assert.ok(slow.some((client) => checkPipelined(client) === client.numbers.length));
      for (const { socket } of slow) socket.destroy();
      await checkEmpty(store);
    });
  }

  test('streams of HTTP/2 whose windows are closed get the bytes of their objects', pauses, async (t) => {
    const { store, edge } = await startRecyclingEdge(t);
    const random = createRandom(13);
    const session = open(t, edge);
    const streams = Array.from({ length: 24 }, (_, i) => {
      const number = 4 + (i % 3) + 7 * random(5);
      const stream = ask(session, { ':path': `/${number}` });
      const received: Buffer[] = [];
      return { number, stream, received };
    });
    await askOthers(edge, random, 20);
    for (const { stream } of streams.slice(0, 6)) stream.close(); // in the middle
    await askOthers(edge, random, 10);
    const reading = streams.slice(6).map(async ({ number, stream, received }) => {
      for await (const chunk of stream) received.push(chunk);
      const body = Buffer.concat(received);
      checkBytes(body, bodyOf(number), `stream ${number}`);
      assert.equal(body.length, bodyOf(number).length);
    });
    await Promise.all(reading); // together: they share the window of their connection
    await checkEmpty(store);
  });
});

/** Answers that wait in a socket or a stream when their object leaves the store. */
describe('clients that stop reading an answer whose object is purged', () => {
  const NUMBER = 5;
  const bytes = bodyOf(NUMBER);

  /** A purge frees the memory of the object, unless it is held. */
  const purge = (edge: HttpsEdge) => edge.get(`/${NUMBER}`, { method: 'POST', body: 'x' });

  for (const [version, isTls] of [
    ['HTTP/1.1', false],
    ['HTTP/1.1 by TLS', true],
  ] as const) {
    test(`a ready answer over ${version} keeps its bytes`, needs('openssl'), async (t) => {
      const { store, edge } = await startRecyclingEdge(t);
      const socket = dial(edge, isTls);
      const first = pipeline(socket, [NUMBER, NUMBER, NUMBER]);
      await eventually('it is kept ready', () => checkPipelined(first) === 3);
      socket.pause();
      const before = edge.log.length;
      const slow = pipeline(
        socket,
        Array.from({ length: 40 }, () => NUMBER),
      );
      await eventually('one waits', () => edge.edge.underWay === 1);
      assert.ok(edge.log.length < before + 40);
      await purge(edge);
      socket.resume();
      await eventually('all arrived', () => sum(slow.received) >= 40 * bytes.length);
      assert.equal(checkPipelined(slow), 40);
      socket.destroy();
      await checkReleased(store);
    });
  }

  test('a ready answer over HTTP/2 keeps its bytes', needs('openssl'), async (t) => {
    const { store, edge } = await startRecyclingEdge(t);
    const session = open(t, edge);
    for (let i = 0; i < 3; i++) {
      assert.equal((await answerOf(ask(session, { ':path': `/${NUMBER}` }))).body.length, bytes.length);
    }
    const slow = ask(session, { ':path': `/${NUMBER}` });
    await once(slow, 'response');
    await purge(edge);
    checkBytes(Buffer.from((await answerOf(slow)).body, 'latin1'), bytes, 'HTTP/2');
    await checkReleased(store);
  });

  test('an answer that is read along while it arrives keeps its bytes', needs('openssl'), async (t) => {
    const { store, edge } = await startRecyclingEdge(t);
    const large = bodyOf(6);
    const held: ServerResponse[] = [];
    edge.origin.answer((request, response) => {
      if (request.method !== 'GET') return void response.writeHead(204).end();
      response.writeHead(200, { 'cache-control': 'max-age=60', 'content-length': String(large.length) });
      response.flushHeaders();
      held.push(response);
    });
    const leader = edge.get('/6');
    await eventually('asked', () => held.length === 1);
    held[0]?.write(large.subarray(0, 64 * KIB));
    const session = open(t, edge);
    session.settings({ initialWindowSize: 16 * KIB });
    await once(session, 'localSettings');
    const follower = ask(session, { ':path': '/6' });
    const received: Buffer[] = [];
    // The rest is in the window and in the stream's queue: the edge has read all of the body.
    follower.on('data', (chunk: Buffer) => {
      received.push(chunk);
      if (sum(received) >= large.length - 110 * KIB) follower.pause();
    });
    await once(follower, 'response');
    held[0]?.end(large.subarray(64 * KIB));
    checkBytes(Buffer.from((await leader).body, 'latin1'), large, 'leader');
    await eventually('nearly read', () => follower.isPaused());
    await edge.get('/6', { method: 'POST', body: 'x' });
    assert.ok(store.pool.orphanBytes > 0);
    follower.removeAllListeners('data');
    follower.on('data', (chunk: Buffer) => received.push(chunk));
    follower.resume();
    await once(follower, 'close');
    checkBytes(Buffer.concat(received), large, 'follower');
    assert.equal(sum(received), large.length);
    await checkEmpty(store);
  });

  test('an answer in slices keeps its bytes when the slices are evicted', needs('openssl'), async (t) => {
    const { store, edge } = await startRecyclingEdge(t);
    const sliced = 13; // of 2,500 KiB
    edge.put({ name: SITE_HOST, rangeBackSource: true });
    for (let i = 0; i < 2; i++) await edge.get(`/${sliced}`);
    const session = open(t, edge);
    session.settings({ initialWindowSize: 16 * KIB });
    await once(session, 'localSettings');
    const slow = ask(session, { ':path': `/${sliced}` });
    const received: Buffer[] = [];
    // The end of the first slice is in the stream's queue: the edge reads the second one.
    slow.on('data', (chunk: Buffer) => {
      received.push(chunk);
      if (sum(received) >= SLICE_BYTES - 110 * KIB) slow.pause();
    });
    await eventually('in the middle', () => slow.isPaused());
    for (let i = 0; i < 40; i++) await edge.get(`/${1_007 + 7 * (i >> 1)}`); // used ones evict used ones
    assert.ok(store.pool.orphanBytes > 0);
    slow.removeAllListeners('data');
    slow.on('data', (chunk: Buffer) => received.push(chunk));
    slow.resume();
    await once(slow, 'close');
    checkBytes(Buffer.concat(received), bodyOf(sliced), 'in slices');
    assert.equal(sum(received), bodyOf(sliced).length);
    await checkReleased(store);
  });
});

function dial(edge: HttpsEdge, isTls: boolean): Socket {
  return isTls
    ? connectTls({ port: edge.httpsPort, host: '127.0.0.1', servername: SITE_HOST, ca: edge.authority.ca })
    : connect(edge.port, '127.0.0.1');
}

function sum(chunks: readonly Buffer[]): number {
  return chunks.reduce((total, { length }) => total + length, 0);
}

/** Fills the cache with other objects, which evict what the others read. */
async function askOthers(edge: HttpsEdge, random: (below: number) => number, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const number = 1_000 + random(60);
    for (let times = 0; times < 1 + random(2); times++) {
      const { body } = await edge.get(`/${number}`, { connection: 'keep-alive' });
      checkBytes(Buffer.from(body, 'latin1'), bodyOf(number), `other ${number}`);
    }
  }
}
