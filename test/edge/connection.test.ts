/** What follows a request on its connection: pipelined requests, CONNECT, Upgrade, and the last request of a connection. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { connectRaw, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { connectTls, startHttpsEdge } from '../support/edge/https-edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;
/** A field that sends the connection of a GET to node:http. */
const BODY = 'Content-Length: 0\r\n';

describe('bytes after an answer that ends the connection never reach an origin', () => {
  const first: readonly (readonly [what: string, bytes: string, status: number])[] = [
    [
      'chunks to HTTP/1.0',
      `POST / HTTP/1.0\r\n${HOST}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['an unknown coding', `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 400],
    ['two Hosts', `GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`, 400],
    ['another host', `GET http://evil/ HTTP/1.1\r\n${HOST}\r\n`, 400],
    ['a length of 17 digits', `POST / HTTP/1.1\r\n${HOST}Content-Length: 00000000000000004\r\n\r\nabcd`, 400],
    ['Connection: close', `GET / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`, 200],
    ['HTTP/1.0', `GET / HTTP/1.0\r\n${HOST}\r\n`, 200],
  ];
  const second = [
    `GET /second HTTP/1.1\r\n${HOST}\r\n`,
    `DELETE /second HTTP/1.1\r\n${HOST}\r\n`,
    `POST /second HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`,
  ];
  for (const [what, bytes, status] of first) {
    test(`bytes after the last answer reach no origin: ${what}`, async (t) => {
      const { edge, origin } = await startSite(t, reply('x'));
      for (const next of second) {
        await edge.get('/warm'); // a connection to the origin that the second request could take
        const text = await connectRaw(edge.port, bytes + next + next).closed;
        assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `));
        assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1);
      }
      // A request of its own shows that nothing is still on its way.
      await edge.get('/last');
      assert.deepEqual(
        origin.requests.filter(({ target }) => target === '/second'),
        [],
      );
    });
  }
});

test('a pipelined request is passed on after the answer before it, so it sees what a POST changed', async (t) => {
  let isPosted = false;
  const { edge } = await startSite(t, (request, response) => {
    if (request.method !== 'POST') return void response.end(`posted: ${isPosted}`);
    setTimeout(() => {
      isPosted = true;
      response.end('done');
    }, 50);
  });
  const post = `POST /1 HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`;
  const text = await connectRaw(edge.port, `${post}GET /2 HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`).closed;
  assert.match(text, /posted: true/);
});

describe('CONNECT', () => {
  test('CONNECT alone is answered 405, and the connection ends', async (t) => {
    const edge = await startTestEdge(t, [1]);
    const text = await connectRaw(edge.port, `CONNECT x:1 HTTP/1.1\r\n${HOST}\r\n`).closed;
    assert.match(text, /^HTTP\/1\.1 405 [\s\S]*X-Cache: ERROR method/);
    assert.deepEqual(
      edge.log.map((fields) => fields.result),
      ['NONE/405'],
    );
  });

  test('CONNECT inside the answer to an earlier request is not answered: the connection ends', async (t) => {
    const { edge } = await startSite(t, (_request, response) => {
      response.writeHead(200, { 'content-length': '20' });
      response.write('0123456789');
    });
    const client = connectRaw(edge.port, `GET / HTTP/1.1\r\n${HOST}${BODY}\r\n`);
    await eventually('begun', () => client.text().endsWith('0123456789'));
    client.socket.write(`CONNECT x:1 HTTP/1.1\r\n${HOST}\r\n`);
    const text = await client.closed;
    assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1);
    assert.match(text, /0123456789$/);
    await eventually('both logged', () => edge.log.length === 2);
    assert.deepEqual(edge.log.map((fields) => fields.result).sort(), ['NONE/405', 'TCP_MISS/499']);
  });

  test('CONNECT after a request that waits for its answer ends both', async (t) => {
    const { edge } = await startSite(t, () => undefined);
    const client = connectRaw(edge.port, `GET /1 HTTP/1.1\r\n${HOST}${BODY}\r\nCONNECT x:1 HTTP/1.1\r\n${HOST}\r\n`);
    assert.equal(await client.closed, '');
    await eventually('both logged', () => edge.log.length === 2);
  });

  // It crashed the worker, where the test sees an error that nothing handles.
  test('CONNECT may be reset while it is answered', async (t) => {
    const edge = await startTestEdge(t, [1]);
    for (let n = 1; n <= 20; n += 1) {
      const client = connectRaw(edge.port, `CONNECT x:1 HTTP/1.1\r\n${HOST}\r\n`);
      client.socket.once('data', () => client.socket.resetAndDestroy());
      await client.closed;
      await eventually('logged', () => edge.log.length === n);
    }
    assert.match(await connectRaw(edge.port, `TRACE / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`).closed, / 405 /);
  });
});

test('an Upgrade is not accepted, and bytes after it are not read as anything else', async (t) => {
  const { edge, origin } = await startSite(t, (request, response) => reply(`at ${request.target}`)(request, response));
  const upgrade = `GET /1 HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`;
  const inside = `GET /inside HTTP/1.1\r\n${HOST}\r\n`;
  const client = connectRaw(edge.port, `${upgrade}POST /2 HTTP/1.1\r\n${HOST}Content-Length: ${inside.length}\r\n\r\n`);
  client.socket.write(inside);
  const text = await client.closed;
  assert.match(text, /^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n[\s\S]*at \/1$/i);
  assert.deepEqual(
    origin.requests.map(({ target }) => target),
    ['/1'],
  );
});

test('the last request that a connection may carry is answered with close, and later ones are not answered', async (t) => {
  const { edge } = await startSite(t, reply('x', { 'cache-control': 'max-age=600' }), {
    limits: { maxRequestsPerConnection: 3 },
  });
  const text = await connectRaw(edge.port, `GET / HTTP/1.1\r\n${HOST}\r\n`.repeat(5)).closed;
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), Array(3).fill('HTTP/1.1 200'));
  assert.equal(text.match(/^Connection: close\r$/gim)?.length, 1);
  assert.match(text, /Connection: close\r\n\r\nx$/i);
  assert.equal(edge.log.length, 3);
});

describe('pipelined requests over either reader', () => {
  const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\n${HOST}${more}\r\n`;
  const statusesOf = (text: string) => text.match(/HTTP\/1\.1 \d+/g) ?? [];

  test('pipelined requests are answered in order, even more than are read ahead', async (t) => {
    const { edge } = await startSite(t, (request, response) => {
      reply(`[${request.target} ${request.body}]`)(request, response);
    });
    const paths = Array.from({ length: 200 }, (_, index) => `/${index}`);
    const post = `POST /last HTTP/1.1\r\n${HOST}Connection: close\r\nContent-Length: 100000\r\n\r\n`;
    const text = await connectRaw(edge.port, paths.map((path) => get(path)).join('') + post + 'x'.repeat(100_000))
      .closed;
    assert.deepEqual(
      Array.from(text.matchAll(/\[(\/\w+) (x*)\]/g), ([, path, body]) => [path, body?.length]),
      [...paths.map((path) => [path, 0]), ['/last', 100_000]],
    );
  });

  test('pipelined requests over TLS are answered in order', needs('openssl'), async (t) => {
    const edge = await startHttpsEdge(t, reply('x', { 'cache-control': 'max-age=600' }));
    const client = connectTls(t, edge);
    client.write(get('/').repeat(200) + get('/', 'Connection: close\r\n'));
    assert.equal(statusesOf(await readText(client)).length, 201);
  });

  test('pipelined requests leave room for another client between them', async (t) => {
    const origin = await startOrigin(t, reply('x', { 'cache-control': 'max-age=600' }));
    const limits = { maxRequestsPerConnection: Number.POSITIVE_INFINITY };
    const edge = await startTestEdge(t, [origin.port], { limits });
    await edge.get('/');
    const other = connectRaw(edge.port, '');
    await once(other.socket, 'connect');
    const crowd = connectRaw(edge.port, get('/').repeat(20_000) + get('/', 'Connection: close\r\n'));
    await eventually('the first is served', () => edge.log.length > 1);
    other.socket.write(get('/', 'Connection: close\r\n'));
    await other.closed;
    assert.ok(edge.log.length < 15_000, String(edge.log.length));
    assert.equal(statusesOf(await crowd.closed).length, 20_001);
  });

  test('pipelined requests beyond the bound are not answered, and the last answer says close', async (t) => {
    const { edge } = await startSite(t, reply('x', { 'cache-control': 'max-age=600' }), {
      limits: { maxWaitingRequests: 50 },
    });
    const text = await connectRaw(edge.port, get('/', BODY).repeat(500)).closed;
    assert.deepEqual(statusesOf(text), Array(51).fill('HTTP/1.1 200'));
    assert.match(text, /Connection: close\r\n\r\nx$/i);
    assert.equal(edge.log.length, 51);
  });

  test('pipelined requests of a client that reads no answers are not read any more, and end with it', async (t) => {
    const { edge } = await startSite(t, reply('x'.repeat(100_000), { 'cache-control': 'max-age=600' }));
    await edge.get('/');
    const client = connect(edge.port, '127.0.0.1').pause();
    const padded = get('/', `X-Padding: ${'x'.repeat(500)}\r\n`);
    client.write(padded.repeat(40_000));
    await eventually('no more is taken', async () => {
      const [served, left] = [edge.log.length, client.writableLength];
      await edge.get('/'); // others are served
      return served > 1 && edge.log.length === served + 1 && client.writableLength === left;
    });
    assert.ok(client.writableLength > 0);
    assert.equal(edge.edge.underWay, 1);
    client.resetAndDestroy();
    await eventually('all that was read is logged', () => edge.log.some((fields) => fields.result === 'NONE/499'));
    await edge.get('/');
    const left = edge.log.filter((fields) => fields.result === 'NONE/499');
    assert.ok(left.length > 32 && left.length < 200, String(left.length));
    assert.equal(edge.edge.underWay, 0);
  });
});
