/** Bodies in both directions: size, pace, clients that leave, and what is kept of it all. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { MAX_REQUEST_BODY_BYTES } from '../../src/edge/incoming-body.ts';
import { connectRaw, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { FRESH, reply, startOrigin, startRawOrigin } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryFolder } from '../support/temporary.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;
const MIB = 1024 * 1024;

describe('request bodies', () => {
  for (const framing of ['a length', 'chunks'] as const) {
    test(`20 MiB with ${framing} arrive whole, without the edge holding them in memory`, async (t) => {
      const sent = createHash('sha256');
      const origin = await startOrigin(t, (request, response) => {
        response.end(createHash('sha256').update(Buffer.from(request.body, 'latin1')).digest('hex'));
      });
      const bufferDisk = { directory: temporaryFolder(t), maxBytes: 128 * MIB }; // a client of one domain has a quarter
      const edge = await startTestEdge(t, [origin.port], { bufferDisk });
      const header = framing === 'chunks' ? 'Transfer-Encoding: chunked' : `Content-Length: ${20 * MIB}`;
      const client = connectRaw(edge.port, `POST /up HTTP/1.1\r\n${HOST}${header}\r\nConnection: close\r\n\r\n`);
      for (let i = 0; i < 320; i++) {
        const piece = Buffer.alloc(64 * 1024, `piece ${i} `);
        sent.update(piece);
        if (framing === 'chunks') client.socket.write('10000\r\n');
        if (!client.socket.write(piece)) await new Promise((resolve) => client.socket.once('drain', resolve));
        if (framing === 'chunks') client.socket.write('\r\n');
      }
      if (framing === 'chunks') client.socket.write('0\r\n\r\n');
      const text = await client.closed;
      assert.match(text, /^HTTP\/1\.1 200 /);
      assert.ok(text.includes(sent.digest('hex')));
      assert.equal(origin.requests[0]?.headers['content-length'], String(20 * MIB)); // it was received first
      await eventually('logged', () => edge.log.length === 1);
      assert.ok((edge.log[0]?.requestBytes ?? 0) > 20 * MIB);
    });
  }

  test('an origin that does not read holds the client back if there is no room to buffer', async (t) => {
    const origin = await startRawOrigin(t, (socket) => void socket.pause());
    const edge = await startTestEdge(t, [origin.port], { limits: { firstByteMs: 1_000 } });
    const client = connectRaw(edge.port, `POST / HTTP/1.1\r\n${HOST}Content-Length: ${64 * MIB}\r\n\r\n`);
    const piece = Buffer.alloc(64 * 1024);
    let written = 0;
    const givenUp = eventually('given up', () => edge.log[0]?.result === 'NONE/504');
    for (let isMoving = true; isMoving; ) {
      written += piece.length;
      if (client.socket.write(piece)) continue;
      const drained = new Promise<boolean>((resolve) => client.socket.once('drain', () => resolve(true)));
      isMoving = await Promise.race([drained, givenUp.then(() => false)]);
    }
    // As much as the system's buffers on the way take.
    assert.ok(written < 40 * MIB, `${written}`);
    client.socket.destroy();
  });

  test('a body over the limit is refused by its Content-Length, without contact to the origin', async (t) => {
    const { edge, origin } = await startSite(t, reply('x'));
    const text = await connectRaw(
      edge.port,
      `POST / HTTP/1.1\r\n${HOST}Content-Length: ${MAX_REQUEST_BODY_BYTES + 1}\r\n\r\n`,
    ).closed;
    assert.match(text, /^HTTP\/1\.1 413 [\s\S]*ERROR bodyTooLarge/);
    assert.equal(origin.connections(), 0);
  });

  test('a body without Content-Length is refused when it reaches the limit', async (t) => {
    const origin = await startRawOrigin(t, () => undefined);
    const edge = await startTestEdge(t, [origin.port], { limits: { maxRequestBodyBytes: 100_000 } });
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    const client = connectRaw(
      edge.port,
      `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(4)}`,
    );
    assert.match(await client.closed, /^HTTP\/1\.1 413 /);
  });

  test('Expect: 100-continue is answered before an origin is asked, or the refusal is sent instead', async (t) => {
    const { edge, origin } = await startSite(t, (request, response) => void response.end(`got ${request.body}`));
    const head = `POST / HTTP/1.1\r\n${HOST}Expect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n`;
    const client = connectRaw(edge.port, head);
    await eventually('continue', () => client.text() === 'HTTP/1.1 100 Continue\r\n\r\n');
    assert.equal(origin.connections(), 0);
    client.socket.write('data');
    assert.match(await client.closed, /100 Continue\r\n\r\nHTTP\/1\.1 200 [\s\S]*got data/);
    assert.equal(origin.requests[0]?.headers['expect'], undefined);

    edge.put({ name: SITE_HOST, state: 'closed' });
    const refused = await connectRaw(edge.port, head.replace('Connection: close\r\n', '')).closed;
    assert.match(refused, /^HTTP\/1\.1 403 /); // no 100, and the connection ends: nobody knows whether the body follows
  });

  test('a client that leaves in the middle of its body is not noticed by the origin', async (t) => {
    const origin = await startRawOrigin(t, () => undefined);
    const edge = await startTestEdge(t, [origin.port]);
    const client = connectRaw(edge.port, `POST / HTTP/1.1\r\n${HOST}Content-Length: 1000\r\n\r\nabc`);
    await edge.get('/', { host: 'unknown.example' });
    client.socket.destroy();
    await eventually('logged', () => edge.log.some((line) => line.result === 'NONE/499'));
    assert.equal(origin.connections(), 0);
    assert.doesNotMatch(await edge.registry.metrics(), /origin_failures_total\{/);
  });

  test('a client that stalls in its body is cut', async (t) => {
    const origin = await startRawOrigin(t, () => undefined);
    const edge = await startTestEdge(t, [origin.port], { limits: { clientIdleMs: 100 } });
    await connectRaw(edge.port, `POST / HTTP/1.1\r\n${HOST}Content-Length: 1000\r\n\r\nabc`).closed;
    await eventually('logged', () => edge.log[0]?.result === 'NONE/499');
  });

  test('a chunked body that breaks off in the middle is answered 400', async (t) => {
    const origin = await startRawOrigin(t, () => undefined);
    const edge = await startTestEdge(t, [origin.port]);
    const client = connectRaw(edge.port, `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`);
    client.socket.write('not a size\r\n');
    assert.match(await client.closed, /^HTTP\/1\.1 400 [\s\S]*malformed/);
    await eventually('logged', () => edge.log.length === 1);
    assert.equal(edge.log[0]?.result, 'NONE/400');
  });
});

describe('response bodies', () => {
  test('a slow client of an uncacheable response sets the pace of the origin if there is no room to buffer', async (t) => {
    let written = 0;
    const origin = await startOrigin(t, (_request, response) => void pour(response));
    const pour = async (response: ServerResponse) => {
      response.writeHead(200, { 'cache-control': 'no-store', 'content-length': String(64 * MIB) });
      const piece = Buffer.alloc(64 * 1024);
      for (; written < 64 * MIB; written += piece.length) {
        if (!response.write(piece))
          await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
        if (response.destroyed) return;
      }
      response.end();
    };
    const edge = await startTestEdge(t, [origin.port]);
    const socket = connect(edge.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(`GET / HTTP/1.1\r\n${HOST}\r\n`);
    let last = -1;
    await eventually('standstill', async () => {
      const before = written;
      await new Promise((resolve) => setTimeout(resolve, 300));
      last = written;
      return before > 0 && before === last;
    });
    assert.ok(last < 40 * MIB, `${last}`);
    socket.destroy();
    await eventually('logged', () => edge.log[0]?.result === 'TCP_MISS/499');
  });

  test('a slow client of a cacheable response delays nobody: the body is stored at the pace of the origin', async (t) => {
    const body = Buffer.alloc(3 * MIB, 'x');
    const { edge } = await startSite(t, reply(body, FRESH));
    const socket = connect(edge.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(`GET / HTTP/1.1\r\n${HOST}\r\n`);
    await eventually('stored', async () => (await edge.get('/')).headers['x-cache'] === 'HIT');
    socket.destroy();
  });

  test('a client that reads slowly but steadily is not cut', async (t) => {
    const { edge } = await startSite(t, reply(Buffer.alloc(12 * MIB), { 'cache-control': 'no-store' }), {
      limits: { clientIdleMs: 1_500 },
    });
    const socket = connect(edge.port, '127.0.0.1');
    socket.write(`GET / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
    let read = 0;
    for await (const chunk of socket) {
      read += chunk.length;
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    assert.ok(read > 12 * MIB, `${read}`);
  });

  test('a client that reads nothing is cut after a while', async (t) => {
    const { edge } = await startSite(t, reply(Buffer.alloc(30 * MIB), { 'cache-control': 'no-store' }), {
      limits: { clientIdleMs: 200 },
    });
    const socket = connect(edge.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(`GET / HTTP/1.1\r\n${HOST}\r\n`);
    await eventually('logged', () => edge.log[0]?.result === 'TCP_MISS/499');
    socket.destroy();
  });

  test('a client that leaves before the answer drops the origin, and one line says 499', async (t) => {
    let closed = false;
    const origin = await startRawOrigin(
      t,
      (socket) =>
        void socket.once('close', () => {
          closed = true;
        }),
    );
    const edge = await startTestEdge(t, [origin.port]);
    const client = connectRaw(edge.port, `GET / HTTP/1.1\r\n${HOST}\r\n`);
    await eventually('asked', () => origin.heads.length === 1);
    client.socket.destroy();
    await eventually('dropped', () => closed);
    await eventually('logged', () => edge.log.length === 1);
    assert.equal(edge.log[0]?.result, 'NONE/499');
  });

  test('a small body whose client leaves is fetched to its end and stored', async (t) => {
    let finish = () => {};
    const { edge, origin } = await startSite(t, (_request, response) => {
      response.writeHead(200, { ...FRESH, 'content-length': '6' });
      response.write('abc');
      finish = () => void response.end('def');
    });
    const client = connectRaw(edge.port, `GET / HTTP/1.1\r\n${HOST}\r\n`);
    await eventually('begun', () => client.text().endsWith('abc'));
    client.socket.destroy();
    await client.closed;
    await edge.get('/', { host: 'unknown.example' }); // by now the edge knows that the client has left
    finish();
    await eventually('stored', async () => (await edge.get('/')).headers['x-cache'] === 'HIT');
    assert.equal((await edge.get('/')).body, 'abcdef');
    assert.equal(origin.requests.length, 1);
  });

  test('a large body that has hardly begun is dropped when its client leaves', async (t) => {
    let closed = false;
    const { edge } = await startSite(
      t,
      (_request, response) => {
        response.once('close', () => {
          closed = true;
        });
        response.writeHead(200, { ...FRESH, 'content-length': String(40 * MIB) });
        response.write('abc');
      },
      { cacheBytes: 512 * MIB },
    );
    const client = connectRaw(edge.port, `GET / HTTP/1.1\r\n${HOST}\r\n`);
    await eventually('begun', () => client.text().endsWith('abc'));
    client.socket.destroy();
    await eventually('dropped', () => closed);
  });
});
