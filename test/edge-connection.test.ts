/** What follows a request on its connection: pipelined requests, CONNECT, Upgrade, and the last request of a connection. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connectRaw, SITE_HOST, startTestEdge } from './support/edge.ts';
import { eventually } from './support/eventually.ts';
import { reply, startOrigin } from './support/origin.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;

describe('what follows an answer that ends the connection never reaches an origin', () => {
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
    test(what, async (t) => {
      const origin = await startOrigin(t, reply('x'));
      const edge = await startTestEdge(t, [origin.port]);
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

test('a pipelined request is passed on when the one before it is answered: what a POST changes is there for the next', async (t) => {
  let isPosted = false;
  const origin = await startOrigin(t, (request, response) => {
    if (request.method !== 'POST') return void response.end(`posted: ${isPosted}`);
    setTimeout(() => {
      isPosted = true;
      response.end('done');
    }, 50);
  });
  const edge = await startTestEdge(t, [origin.port]);
  const post = `POST /1 HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`;
  const text = await connectRaw(edge.port, `${post}GET /2 HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`).closed;
  assert.match(text, /posted: true/);
});

describe('CONNECT', () => {
  test('alone is answered 405, and the connection ends', async (t) => {
    const edge = await startTestEdge(t, [1]);
    const text = await connectRaw(edge.port, `CONNECT x:1 HTTP/1.1\r\n${HOST}\r\n`).closed;
    assert.match(text, /^HTTP\/1\.1 405 [\s\S]*X-Cache: ERROR method/);
    assert.deepEqual(
      edge.log.map((fields) => fields[9]),
      ['NONE/405'],
    );
  });

  test('inside the answer to a request before it is not answered: the connection ends', async (t) => {
    const origin = await startOrigin(t, (_request, response) => {
      response.writeHead(200, { 'content-length': '20' });
      response.write('0123456789');
    });
    const edge = await startTestEdge(t, [origin.port]);
    const client = connectRaw(edge.port, `GET / HTTP/1.1\r\n${HOST}\r\n`);
    await eventually('begun', () => client.text().endsWith('0123456789'));
    client.socket.write(`CONNECT x:1 HTTP/1.1\r\n${HOST}\r\n`);
    const text = await client.closed;
    assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1);
    assert.match(text, /0123456789$/);
    await eventually('both logged', () => edge.log.length === 2);
    assert.deepEqual(edge.log.map((fields) => fields[9]).sort(), ['NONE/405', 'TCP_MISS/499']);
  });

  test('behind a request that waits for its answer ends both', async (t) => {
    const origin = await startOrigin(t, () => undefined);
    const edge = await startTestEdge(t, [origin.port]);
    const client = connectRaw(edge.port, `GET /1 HTTP/1.1\r\n${HOST}\r\nCONNECT x:1 HTTP/1.1\r\n${HOST}\r\n`);
    assert.equal(await client.closed, '');
    await eventually('both logged', () => edge.log.length === 2);
  });
});

test('an Upgrade is not taken up, and what follows it on the connection is not read as anything else', async (t) => {
  const origin = await startOrigin(t, (request, response) => reply(`at ${request.target}`)(request, response));
  const edge = await startTestEdge(t, [origin.port]);
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

test('the last request that a connection may carry says so, and those behind it are not answered', async (t) => {
  const origin = await startOrigin(t, reply('x', { 'cache-control': 'max-age=600' }));
  const edge = await startTestEdge(t, [origin.port], { limits: { maxRequestsPerConnection: 3 } });
  const text = await connectRaw(edge.port, `GET / HTTP/1.1\r\n${HOST}\r\n`.repeat(5)).closed;
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), Array(3).fill('HTTP/1.1 200'));
  assert.equal(text.match(/^Connection: close\r$/gim)?.length, 1);
  assert.match(text, /Connection: close\r\n\r\nx$/i);
  assert.equal(edge.log.length, 3);
});
