/** Clients that send or take slowly: what they keep of an origin's places, of memory and of the disk, and what is left for others. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { connectRaw, type RawClient, SITE_HOST, startTestEdge, type TestEdge } from '../support/edge/edge.ts';
import { answerOf, ask, open } from '../support/edge/http2-client.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import { type Answer, reply, startOrigin } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;
const MIB = 1024 * 1024;
/** An origin's places are few, and nobody waits for one. */
const LIMITS = { maxOriginConnections: 8, originWaitMs: 1 };
const NO_STORE = { 'cache-control': 'no-store' };

const echo: Answer = (request, response) => {
  response.writeHead(200, { ...NO_STORE, 'x-length': request.headers['content-length'] ?? 'none' });
  response.end(`${request.method} ${request.body.length}`);
};

/** Requests whose body does not come. */
async function upload(
  edge: TestEdge,
  count: number,
  framing: string,
  from?: (i: number) => string,
): Promise<RawClient[]> {
  const clients = Array.from({ length: count }, (_, i) =>
    connectRaw(edge.port, `POST /${i} HTTP/1.1\r\n${HOST}${framing}`, from?.(i)),
  );
  await eventually('all are served', () => edge.edge.underWay === count);
  return clients;
}

const ONE_OF_TEN = 'Content-Length: 10\r\n\r\nx';
const ONE_CHUNK = 'Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n';

describe('slow request bodies', () => {
  for (const [what, framing, from] of [
    ['with a length, of one address', ONE_OF_TEN, undefined],
    ['in chunks, of one address', ONE_CHUNK, undefined],
    ['of many addresses', ONE_OF_TEN, (i: number) => `127.0.1.${i + 1}`],
  ] as const) {
    test(`slow bodies ${what} reach no origin, and misses and complete bodies are served`, async (t) => {
      const { edge, origin } = await startSite(t, echo, { limits: LIMITS });
      const clients = await upload(edge, 40, framing, from);
      for (let i = 0; i < 4; i++) {
        assert.equal((await edge.get(`/${i}`)).body, 'GET 0');
        assert.equal((await edge.get(`/${i}`, { method: 'POST', body: 'abc' })).body, 'POST 3');
      }
      assert.equal(origin.requests.length, 8);
      for (const { socket } of clients) socket.destroy();
      await eventually('logged', () => edge.log.length === 48);
      assert.equal(origin.requests.length, 8);
    });
  }

  test(
    'slow bodies over HTTP/2, by several connections of many streams, reach no origin',
    needs('openssl'),
    async (t) => {
      const edge = await startHttpsEdge(t, echo, { limits: LIMITS });
      const sessions = [open(t, edge), open(t, edge), open(t, edge)];
      const streams = sessions.flatMap((session) =>
        Array.from({ length: 30 }, (_, i) => {
          const stream = session.request({ ':authority': SITE_HOST, ':method': 'POST', ':path': `/${i}` });
          stream.on('error', () => undefined);
          stream.write('x');
          return stream;
        }),
      );
      await eventually('all are served', () => edge.edge.underWay === 90);
      assert.equal((await edge.get('/')).body, 'GET 0');
      const [session] = sessions;
      assert.ok(session !== undefined);
      const whole = await answerOf(ask(session, { ':method': 'POST', ':path': '/' }, 'abc'));
      assert.deepEqual([whole.body, whole.headers['x-length']], ['POST 3', '3']);
      assert.equal(edge.origin.requests.length, 2);
      const [one] = streams;
      assert.ok(one !== undefined);
      const answer = answerOf(one);
      one.end('yz');
      assert.equal((await answer).body, 'POST 3');
    },
  );

  test('a body that has arrived is sent with its length, and to another origin if the first is gone', async (t) => {
    const gone = await startOrigin(t, echo);
    const origin = await startOrigin(t, echo);
    const edge = await startTestEdge(t, [gone.port, origin.port]);
    await gone.stop();
    for (const method of ['POST', 'PUT', 'GET', 'DELETE']) {
      const client = connectRaw(edge.port, `${method} / HTTP/1.1\r\n${HOST}Connection: close\r\n${ONE_CHUNK}`);
      client.socket.write('2\r\nyz\r\n0\r\n\r\n');
      const text = await client.closed;
      assert.match(text, new RegExp(`^HTTP/1.1 200 [\\s\\S]*x-length: 3\r\n[\\s\\S]*${method} 3`));
    }
  });

  test('a GET with a body is sent again if the first origin fails; a POST is not sent twice', async (t) => {
    const failing = await startOrigin(t, (_request, response) => void response.writeHead(503).end());
    const origin = await startOrigin(t, echo);
    const edge = await startTestEdge(t, [failing.port, origin.port]);
    assert.deepEqual(
      [(await edge.get('/', { body: 'abc' })).body, (await edge.get('/', { body: 'abc' })).body],
      ['GET 3', 'GET 3'],
    );
    failing.answer((_request, response) => void response.destroy());
    const posts = [];
    for (let i = 0; i < 2; i++) posts.push((await edge.get('/', { method: 'POST', body: 'abc' })).status);
    assert.deepEqual(posts.toSorted(), [200, 502]);
  });

  test('a chunked body without a byte is no body', async (t) => {
    const { edge } = await startSite(t, echo);
    for (const method of ['POST', 'GET']) {
      const head = `${method} / HTTP/1.1\r\n${HOST}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
      assert.match(await connectRaw(edge.port, head).closed, new RegExp(`^HTTP/1.1 200 [\\s\\S]*${method} 0`));
    }
  });
});

describe('bodies without room to buffer', () => {
  // No place is taken back from a slow client, who would be told something else, however long a crowded machine pauses.
  const limits = { ...LIMITS, maxBufferMemoryBytes: 64 * 1024, originSlowMs: 60_000 };
  const head = `POST /up HTTP/1.1\r\n${HOST}Content-Length: ${MIB}\r\n\r\n`;
  const half = Buffer.alloc(MIB / 2, 'x');

  test('bodies without room to buffer are passed on as they arrive, some at once, and the others are refused', async (t) => {
    const { edge } = await startSite(t, echo, { limits });
    const clients = Array.from({ length: 10 }, (_, i) => connectRaw(edge.port, head, `127.0.1.${i + 1}`));
    for (const { socket } of clients) socket.write(half);
    // A quarter of the places are for them.
    const isTold = ({ text }: RawClient) => text().includes('buffersFull');
    await eventually('told', () => clients.filter(isTold).length === 8);
    const told = clients.filter(isTold);
    for (const client of told) assert.match(client.text(), /^HTTP\/1\.1 503 [\s\S]*ERROR buffersFull/);
    assert.equal((await edge.get('/')).body, 'GET 0');
    for (const client of clients.filter((one) => !told.includes(one))) {
      client.socket.write(half);
      await eventually('passed on', () => client.text().includes(`POST ${MIB}`));
    }
  });

  test('a client that sends its body gets the connection of a slow one, if all for such bodies are in use', async (t) => {
    const origin = await startOrigin(t, echo);
    const patient = { ...limits, originWaitMs: 60_000, originSlowMs: 100 };
    const edge = await startTestEdge(t, [origin.port], { limits: patient });
    const slow = Array.from({ length: 2 }, (_, i) => connectRaw(edge.port, head, `127.0.1.${i + 1}`));
    for (const { socket } of slow) socket.write(half);
    await eventually('passed on', () => origin.connections() === 2);
    const quick = connectRaw(edge.port, head, '127.0.1.3');
    quick.socket.write(Buffer.alloc(MIB, 'x'));
    await eventually('answered', () => quick.text().includes(`POST ${MIB}`));
    await eventually('told', () => slow.some(({ text }) => text().includes('503 Service Unavailable')));
    for (const { socket } of [...slow, quick]) socket.destroy();
  });

  test('bodies go through a file if there is a disk, whatever happens to it', async (t) => {
    const origin = await startOrigin(t, echo);
    const bufferDisk = { directory: temporaryFolder(t), maxBytes: 64 * MIB };
    const waiting = { ...limits, originWaitMs: 60_000 };
    const edge = await startTestEdge(t, [origin.port], { limits: waiting, bufferDisk });
    const clients = Array.from({ length: 10 }, (_, i) => connectRaw(edge.port, head, `127.0.1.${i + 1}`));
    for (const { socket } of clients) socket.write(half);
    const metric = async () => Number(/buffered_bytes\{where="disk"\} (\d+)/.exec(await edge.registry.metrics())?.[1]);
    await eventually('on disk', async () => (await metric()) > 4 * MIB);
    assert.equal(origin.connections(), 0);
    for (const { socket } of clients) socket.write(half);
    for (const client of clients) await eventually('answered', () => client.text().includes(`POST ${MIB}`));
    await eventually('given back', async () => (await metric()) === 0);
  });
});

describe('slow readers of answers', () => {
  const BODY_BYTES = 8 * MIB;
  const body = Buffer.alloc(BODY_BYTES);
  for (let i = 0; i < BODY_BYTES; i += 4) body.writeUInt32LE(i, i);
  const sum = createHash('sha256').update(body).digest('hex');
  const large: Answer = (request, response) => {
    if (request.target === '/small') reply('small', NO_STORE)(request, response);
    else reply(body, NO_STORE)(request, response);
  };

  function stall(edge: TestEdge, i: number, from?: string): Socket {
    const socket = connect({ port: edge.port, host: '127.0.0.1', ...(from && { localAddress: from }) });
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(`GET /${i} HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
    return socket;
  }

  async function readAll(socket: Socket): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk);
    const all = Buffer.concat(chunks);
    return createHash('sha256')
      .update(all.subarray(all.indexOf('\r\n\r\n') + 4))
      .digest('hex');
  }

  for (const [what, from] of [
    ['one address', () => undefined],
    ['many addresses', (i: number) => `127.0.1.${i + 1}`],
  ] as const) {
    test(`answers to slow clients of ${what} leave the origin free, others are served, and every byte arrives in the end`, async (t) => {
      const origin = await startOrigin(t, large);
      const bufferDisk = { directory: temporaryFolder(t), maxBytes: 512 * MIB };
      const limits = { maxOriginConnections: 8, originWaitMs: 60_000 };
      const edge = await startTestEdge(t, [origin.port], { limits, bufferDisk });
      const clients = Array.from({ length: 12 }, (_, i) => stall(edge, i, from(i)));
      await eventually('all were asked', () => origin.requests.length === 12);
      assert.equal((await edge.get('/small')).body, 'small');
      for (const sums of await Promise.all(clients.map(readAll))) assert.equal(sums, sum);
      const taken = async () => /buffered_bytes\{where="disk"\} (\d+)/.exec(await edge.registry.metrics())?.[1];
      await eventually('given back', async () => (await taken()) === '0');
      assert.equal(edge.log.filter((line) => line.result === 'TCP_MISS/200').length, 13);
    });
  }

  test('answers to streams without a window leave the origin free', needs('openssl'), async (t) => {
    const bufferDisk = { directory: temporaryFolder(t), maxBytes: 1024 * MIB }; // a client of one domain has a quarter
    const limits = { maxOriginConnections: 8, originWaitMs: 60_000 };
    const edge = await startHttpsEdge(t, large, { limits, bufferDisk });
    const session = open(t, edge);
    const streams = Array.from({ length: 20 }, (_, i) => {
      const stream = ask(session, { ':path': `/${i}` });
      stream.pause();
      return stream;
    });
    await eventually('all were asked', () => edge.origin.requests.length === 20);
    assert.equal((await edge.get('/small')).body, 'small');
    const [first, ...others] = streams;
    assert.ok(first !== undefined);
    for (const stream of others) stream.close();
    const all = createHash('sha256');
    for await (const chunk of first) all.update(chunk);
    assert.equal(all.digest('hex'), sum);
  });

  test('answers without room to buffer keep places until others wait: then the slowest are cut', async (t) => {
    const huge = reply(Buffer.alloc(48 * MIB), NO_STORE); // more than the system's buffers on the way take
    const origin = await startOrigin(t, (request, response) => {
      (request.target === '/small' ? large : huge)(request, response);
    });
    const limits = { maxOriginConnections: 8, originWaitMs: 60_000, originSlowMs: 100 };
    const edge = await startTestEdge(t, [origin.port], { limits });
    const clients = Array.from({ length: 7 }, (_, i) => stall(edge, i, `127.0.1.${i + 1}`));
    await eventually('all were asked', () => origin.requests.length === 7);
    assert.equal((await edge.get('/small')).body, 'small');
    await eventually('cut', () => edge.log.some((line) => line.result === 'TCP_MISS/503'));
    for (const socket of clients) socket.destroy();
    await eventually('logged', () => edge.log.length === 8);
    assert.doesNotMatch(await edge.registry.metrics(), /origin_failures_total\{/);
  });
});

test('a small body is answered as usual if it arrives with its head, and keeps the connection', async (t) => {
  const { edge, origin } = await startSite(t, reply('ok', NO_STORE));
  const post = `POST / HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`;
  const client = connectRaw(edge.port, post.repeat(3));
  await eventually('answered', () => client.text().split('ok').length === 4);
  assert.deepEqual(
    origin.requests.map(({ body }) => body),
    ['abc', 'abc', 'abc'],
  );
  client.socket.destroy();
});
