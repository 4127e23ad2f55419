/** Clients of HTTP/2 that mean harm: each is bounded in what it costs, its connection ends, and others are served meanwhile. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openStore } from '../../src/edge/store/open.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import {
  connectFrames,
  FLAGS,
  type FrameClient,
  fields,
  frame,
  frameOfType,
  uint32,
} from '../support/edge/http2-frames.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import { reply } from '../support/edge/origin.ts';
import { overwrite } from '../support/edge/overwrite.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const GET = fields([':method', 'GET'], [':scheme', 'https'], [':authority', SITE_HOST], [':path', '/']);
const ENDED = FLAGS.endHeaders | FLAGS.endStream;
const GET_ROOT = frame('headers', ENDED, 1, GET);
const ENHANCE_YOUR_CALM = 11;
const MAX_FRAMES = 60_000;
const BATCH = 100;
/** The setting of a client: no byte of a body can go out to it. */
const NO_WINDOW = Buffer.from([0, 4, 0, 0, 0, 0]);

/** Sends `make(0)`, `make(1)`, … until the server ends the connection; gives how many it took. */
async function flood(client: FrameClient, make: (index: number) => Buffer): Promise<number> {
  let sent = 0;
  while (!client.isClosed && sent < MAX_FRAMES) {
    await client.send(Buffer.concat(Array.from({ length: BATCH }, (_, index) => make(sent + index))));
    sent += BATCH;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await client.closed;
  return sent;
}

/** Memory after a garbage collection: how much garbage is left depends on when it ran last. */
function heldMemory(): { readonly buffers: number; readonly all: number } {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return { buffers: arrayBuffers, all: arrayBuffers + heapUsed };
}

const streamOf = (index: number) => 2 * index + 1;

describe('floods of HTTP/2 frames', needs('openssl', 'curl'), () => {
  const rows: readonly (readonly [what: string, make: (index: number) => Buffer, maxRequests: number])[] = [
    [
      'streams that are reset as soon as they are opened',
      (index) =>
        Buffer.concat([frame('headers', ENDED, streamOf(index), GET), frame('reset', 0, streamOf(index), uint32(8))]),
      1_000,
    ],
    [
      'header sections that do not end',
      (index) => (index === 0 ? frame('headers', 0, 1, GET) : frame('more', 0, 1, fields(['a', 'b']))),
      0,
    ],
    [
      'header sections that do not end, in empty frames',
      (index) => (index === 0 ? frame('headers', 0, 1, GET) : frame('more', 0, 1)),
      0,
    ],
    [
      'empty data frames',
      (index) => (index === 0 ? frame('headers', FLAGS.endHeaders, 1, GET) : frame('data', 0, 1)),
      1,
    ],
    ['data of streams that are not open', (index) => frame('data', 0, streamOf(index), Buffer.from('x')), 0],
    [
      'invalid requests',
      (index) => frame('headers', ENDED, streamOf(index), fields([':method', 'GET'], ['Upper', 'x'])),
      300, // each has its line
    ],
    ['windows beyond their maximum', () => frame('window', 0, 0, uint32(0x7fffffff)), 0],
    [
      'changes of the table size beyond the maximum',
      (index) => frame('headers', ENDED, streamOf(index), Buffer.from([0x3f, 0xe1, 0xff, 0x03])),
      0,
    ],
  ];
  const ping = frame('ping', 0, 0, Buffer.alloc(8));
  const settings = frame('settings', 0, 0, Buffer.from([0, 4, 0, 0, 0xff, 0xff]));
  const open = (other: Buffer) => (index: number) => (index === 0 ? frame('headers', FLAGS.endHeaders, 1, GET) : other);
  /** Frames that cost the client little, and request nothing. */
  const cheap: readonly (readonly [what: string, make: (index: number) => Buffer])[] = [
    ['pings', () => ping],
    ['acknowledgements of pings that were not sent', () => frame('ping', FLAGS.ack, 0, Buffer.alloc(8))],
    ['settings', () => settings],
    ['empty settings', () => frame('settings', 0, 0)],
    ['acknowledgements of settings that were not sent', () => frame('settings', FLAGS.ack, 0)],
    ['priorities', (index) => frame('priority', 0, streamOf(index), Buffer.alloc(5))],
    ['WINDOW_UPDATEs of a byte', () => frame('window', 0, 0, uint32(1))],
    ['WINDOW_UPDATEs of a stream, of a byte', open(frame('window', 0, 1, uint32(1)))],
    [
      'WINDOW_UPDATEs of a stream that has ended',
      (index) => (index === 0 ? GET_ROOT : frame('window', 0, 1, uint32(1))),
    ],
    ['GOAWAY, and then pings', (index) => (index === 0 ? frame('goaway', 0, 0, Buffer.alloc(8)) : ping)],
    ['frames of an unknown type', () => frameOfType(0xb7, 0, 0, Buffer.alloc(4))],
    ['PRIORITY_UPDATE frames of RFC 9218', () => frameOfType(0x10, 0, 0, Buffer.from([0, 0, 0, 1, 0x75]))],
  ];
  for (const [what, make] of cheap) {
    test(`an endless flood of ${what} ends the connection`, async (t) => {
      const edge = await startHttpsEdge(t, reply('x', { 'cache-control': 'max-age=60' }));
      const client = await connectFrames(edge.httpsPort, SITE_HOST);
      const sent = await flood(client, make);
      assert.ok(sent < MAX_FRAMES, 'the connection ended');
      assert.equal(client.goaway, what.startsWith('GOAWAY') ? client.goaway : ENHANCE_YOUR_CALM);
      assert.equal((await edge.curl(`https://${SITE_HOST}/`)).status, 200);
    });
  }

  for (const [what, make, maxRequests] of rows) {
    test(what, async (t) => {
      const edge = await startHttpsEdge(t, reply('x', { 'cache-control': 'max-age=60' }));
      const client = await connectFrames(edge.httpsPort, SITE_HOST);
      const before = heldMemory().all;
      const sent = await flood(client, make);
      assert.ok(sent < MAX_FRAMES, 'the connection ended');
      const other = await edge.curl(`https://${SITE_HOST}/`);
      assert.deepEqual([other.status, other.version], [200, '2']);
      await eventually('it is logged', () => edge.log.some(({ result }) => result.endsWith('/200')));
      assert.ok(edge.log.length <= maxRequests + 1, `${edge.log.length} requests`);
      assert.ok(heldMemory().all - before < 64 * 1024 * 1024);
      t.diagnostic(`${sent} frames, GOAWAY ${client.goaway}`);
    });
  }

  test('a client that pings, sends priorities and widens its windows as browsers do is served on', async (t) => {
    const edge = await startHttpsEdge(t, reply('x'.repeat(200_000), { 'cache-control': 'max-age=60' }));
    const client = await connectFrames(edge.httpsPort, SITE_HOST);
    const requests = 60;
    for (let index = 0; index < requests; index += 1) {
      const id = streamOf(index);
      const urgency = Array.from({ length: 5 }, () => frame('priority', 0, id, Buffer.alloc(5)));
      const windows = [0, id].map((stream) => frame('window', 0, stream, uint32(200_000)));
      await client.send(Buffer.concat([frame('headers', ENDED, id, GET), ...urgency, ...windows]));
      await client.send(Buffer.concat(Array<Buffer>(15).fill(frame('ping', 0, 0, Buffer.alloc(8)))));
      await eventually('it is answered', () => edge.log.length > index);
    }
    assert.deepEqual([client.isClosed, client.goaway], [false, undefined]);
    client.socket.destroy();
  });

  test('a field that refers to the table again and again is counted each time', async (t) => {
    const edge = await startHttpsEdge(t);
    const client = await connectFrames(edge.httpsPort, SITE_HOST);
    // Put into the table once, 4 KB; then one byte names all of it.
    const large = Buffer.concat([Buffer.from([0x40, 1, 0x61, 0x7f, 0xa1, 0x1e]), Buffer.alloc(4000, 'x')]);
    await client.send(frame('headers', ENDED, 1, Buffer.concat([GET, large])));
    await eventually('the first is answered', () => edge.log.length === 1);
    await client.send(frame('headers', ENDED, 3, Buffer.concat([GET, Buffer.alloc(10_000, 0xbe)])));
    await eventually('the second is refused', () => edge.log.length === 2);
    assert.equal(edge.log[1]?.result, 'NONE/431');
    client.socket.destroy();
  });

  test('a client that sends requests without reading answers is not read either', async (t) => {
    const script = reply('x'.repeat(5_000), { 'cache-control': 'max-age=60' });
    const limits = { maxRequestsPerConnection: Number.POSITIVE_INFINITY };
    const edge = await startHttpsEdge(t, script, { limits });
    const url = `https://${SITE_HOST}/`;
    for (const _ of ['miss', 'hit']) await edge.curl(url);
    const client = await connectFrames(edge.httpsPort, SITE_HOST);
    client.socket.pause();
    await client.send(frame('window', 0, 0, uint32(2 ** 30)));
    const before = heldMemory().all;
    const asked = 30_000; // 150 MB, which is more than the system keeps for a connection
    const heads = Array.from({ length: asked }, (_, index) => frame('headers', ENDED, streamOf(index), GET));
    void client.send(Buffer.concat(heads)); // is not taken
    await eventually('answers wait', () => edge.edge.underWay > 0 && edge.log.length > 100);
    assert.equal((await edge.curl(url)).status, 200);
    assert.ok(edge.log.length < asked);
    assert.ok(heldMemory().all - before < 64 * 1024 * 1024);
    client.socket.destroy();
    await eventually('all is over', () => edge.edge.underWay === 0);
  });

  test('clients that read nothing of disk bodies are cut before they use too much memory', async (t) => {
    const folder = { directory: temporaryFolder(t), onProblem: () => undefined };
    const store = openStore({ onFreed: overwrite, ...folder, memoryBytes: 1024 * 1024, diskBytes: 64 * 1024 * 1024 });
    const size = 6_000_000;
    const limits = { maxReaderBytes: 4 * 1024 * 1024 };
    const script = reply('x'.repeat(size), { 'cache-control': 'max-age=60' });
    const edge = await startHttpsEdge(t, script, { store, limits });
    t.after(() => store[Symbol.asyncDispose]());
    const url = `https://${SITE_HOST}/`;
    await edge.curl(url);
    await eventually('it is on the disk', async () => (await edge.curl(url)).headers['x-cache'] === 'HIT');
    const before = heldMemory().buffers;
    const harmless = await connectFrames(edge.httpsPort, SITE_HOST, NO_WINDOW);
    await harmless.send(frame('headers', ENDED, 1, GET));
    const client = await connectFrames(edge.httpsPort, SITE_HOST, NO_WINDOW);
    await client.send(
      Buffer.concat(Array.from({ length: 50 }, (_, index) => frame('headers', ENDED, streamOf(index), GET))),
    );
    const cut = () => edge.log.filter((fields) => fields.result === 'TCP_HIT/503').length;
    await eventually('seven of all are left', () => cut() === 44);
    assert.equal((await edge.curl(url)).body.length, size);
    assert.equal(harmless.resets.length, 0);
    for (const { socket } of [client, harmless]) socket.destroy();
    await eventually('all is over', () => edge.log.filter((fields) => fields.result.endsWith('/499')).length >= 6);
    await eventually('its memory is free', () => heldMemory().buffers < before + 1024 * 1024);
  });

  test('the connection with the most open streams ends when there are too many', async (t) => {
    const hit = reply('x'.repeat(100_000), { 'cache-control': 'max-age=60' });
    const edge = await startHttpsEdge(t, hit, { limits: { maxHttp2Streams: 120 } });
    await edge.curl(`https://${SITE_HOST}/`);
    const open = async (count: number) => {
      const client = await connectFrames(edge.httpsPort, SITE_HOST, NO_WINDOW);
      await client.send(
        Buffer.concat(Array.from({ length: count }, (_, index) => frame('headers', ENDED, streamOf(index), GET))),
      );
      return client;
    };
    const clients = [await open(2), await open(90), await open(50)];
    await eventually('it ends, and its requests are logged', () => clients[1]?.isClosed && edge.log.length === 91);
    assert.equal(edge.log.filter((fields) => fields.result === 'TCP_MEM_HIT/503').length, 90);
    assert.equal((await edge.curl(`https://${SITE_HOST}/`)).status, 200);
    assert.deepEqual([clients[0]?.isClosed, clients[2]?.isClosed], [false, false]);
    for (const client of clients) client?.socket.destroy();
  });

  test('only the flooding connection ends, even if its answers are small and its requests come in one write', async (t) => {
    const hit = reply('x'.repeat(1_000), { 'cache-control': 'max-age=60' });
    const edge = await startHttpsEdge(t, hit, { limits: { maxHttp2Streams: 60 } });
    for (const _ of ['miss', 'hit']) await edge.curl(`https://${SITE_HOST}/`);
    const open = async (count: number) => {
      const client = await connectFrames(edge.httpsPort, SITE_HOST, NO_WINDOW);
      const asked = Array.from({ length: count }, (_, index) => frame('headers', ENDED, streamOf(index), GET));
      await client.send(Buffer.concat(asked));
      await eventually('it is heard', () => client.isClosed || client.frames.length > count);
      return client;
    };
    const harmless = [await open(10), await open(10), await open(10)];
    const largest = await open(90);
    await largest.closed;
    assert.equal((await edge.curl(`https://${SITE_HOST}/`)).status, 200);
    assert.deepEqual(
      harmless.map(({ isClosed }) => isClosed),
      [false, false, false],
    );
    for (const client of harmless) client.socket.destroy();
    await eventually('all is over', () => edge.edge.underWay === 0);
  });

  test('a client that reads nothing of an answer is cut in time, even if it keeps sending frames', async (t) => {
    const body = reply('x'.repeat(20_000_000)); // more than the system keeps for a connection
    const limits = { clientIdleMs: 400, requestMs: 1_000, requestHeaderMs: 1_000 };
    const edge = await startHttpsEdge(t, body, { limits });
    const client = await connectFrames(edge.httpsPort, SITE_HOST, Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff]));
    client.socket.pause();
    await client.send(Buffer.concat([frame('window', 0, 0, uint32(2 ** 30)), frame('headers', ENDED, 1, GET)]));
    // Noticed by what it writes, since it reads nothing.
    const talk = setInterval(() => client.socket.write(frame('priority', 0, 1, Buffer.alloc(5))), 50);
    t.after(() => clearInterval(talk));
    await client.closed;
    await eventually('it is logged', () => edge.log.some((fields) => fields.result.endsWith('/499')));
  });

  test('streams beyond the limit are refused, and stalled ones are cut in time', async (t) => {
    const body = reply('x'.repeat(1_000_000), { 'cache-control': 'max-age=60' });
    const limits = { clientIdleMs: 800, keepAliveMs: 800, requestHeaderMs: 800 };
    const edge = await startHttpsEdge(t, body, { limits });
    await edge.curl(`https://${SITE_HOST}/`);
    const client = await connectFrames(edge.httpsPort, SITE_HOST, NO_WINDOW);
    const before = heldMemory().all;
    await client.send(
      Buffer.concat(Array.from({ length: 150 }, (_, index) => frame('headers', ENDED, streamOf(index), GET))),
    );
    await eventually('fifty are refused', () => client.resets.filter((code) => code === 7).length === 50);
    await eventually(
      'a hundred are cut',
      () => edge.log.filter((fields) => fields.result === 'TCP_MEM_HIT/499').length === 100,
    );
    assert.ok(heldMemory().all - before < 64 * 1024 * 1024);
    await client.closed; // idle by then
    const silent = await connectFrames(edge.httpsPort, SITE_HOST);
    await silent.send(frame('headers', 0, 1, GET)); // and never its end
    await silent.closed;
    const other = await edge.curl(`https://${SITE_HOST}/`);
    assert.equal(other.status, 200);
  });
});
