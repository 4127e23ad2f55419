/** Connections that the edge reads by itself: requests at once, hand-over to node:http, clients that are slow or gone. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { connectRaw, SITE_HOST, type TestEdge } from '../support/edge/edge.ts';
import { connectTls, startHttpsEdge } from '../support/edge/https-edge.ts';
import { type Answer, reply } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;
const FRESH = { 'cache-control': 'max-age=600' };
/** A field that sends the connection of a GET to node:http. */
const BODY = 'Content-Length: 0\r\n';
const CLOSE = 'Connection: close\r\n';

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\n${HOST}${more}\r\n`;
const post = (path: string, body: string, more = '') =>
  `POST ${path} HTTP/1.1\r\n${HOST}Content-Length: ${body.length}\r\n${more}\r\n${body}`;
const targetIn: Answer = (request, response) => reply(`[${request.method} ${request.target}]`)(request, response);
const answersIn = (text: string) => Array.from(text.matchAll(/\[(\w+ [^\]]*)\]/g), ([, answer]) => answer);
const statusesIn = (text: string) => text.match(/HTTP\/1\.1 \d+/g) ?? [];
const codes = (edge: TestEdge) => edge.log.map((fields) => fields.result);

describe('an answer is the same, byte for byte, as over node:http', () => {
  const date = { date: 'Sat, 28 Nov 2026 10:00:00 GMT' };
  const rows: readonly (readonly [what: string, answer: Answer])[] = [
    ['with a length', reply('hello', { ...date, 'x-a': ['1', '2'], 'content-type': 'text/plain' })],
    ['of many bytes', reply('x'.repeat(300_000), date)],
    ['without a body', reply('', date)],
    ['without a length', (_request, response) => void response.writeHead(200, date).end('chunk')],
    ['204', (_request, response) => void response.writeHead(204, date).end()],
    ['304', (_request, response) => void response.writeHead(304, { ...date, etag: '"1"' }).end()],
    ['another reason', (_request, response) => void response.writeHead(200, 'Very fine', date).end('x')],
    ['an error of its own', reply('no', date, 503)],
  ];
  for (const [what, answer] of rows) {
    test(`an answer is the same over both readers: ${what}`, async (t) => {
      const { edge } = await startSite(t, answer);
      for (const method of ['GET', 'HEAD']) {
        for (const more of ['', CLOSE]) {
          const [bare, byNode] = await Promise.all(
            ['', BODY].map(async (body) => {
              const client = connectRaw(edge.port, `${method} /?${body.length} HTTP/1.1\r\n${HOST}${body}${more}\r\n`);
              client.socket.write(get('/end', BODY + CLOSE).repeat(more === '' ? 1 : 0));
              return client.closed;
            }),
          );
          // The edge's own answers have the second at which they were made.
          const settled = (text = '') =>
            text
              .replace(/; detail=\S+|(?:X-Cache|Cache-Status|Age): .*\r\n/g, '')
              .replace(/^Date: (.*)\r\n/gm, (line, at) => (at === date.date ? line : ''));
          assert.equal(settled(bare), settled(byNode));
          assert.ok(statusesIn(bare ?? '').length > 0);
        }
      }
    });
  }
});

describe('an answer that is not complete is reported in the same way as over node:http', () => {
  const announced = { 'content-length': '200' };
  const begin: Answer = (_request, response) => void response.writeHead(200, announced).write('begun');
  const ways = [
    ['ours', ''],
    ['node:http', BODY],
  ] as const;
  for (const [way, body] of ways) {
    test(`an answer is alike when the origin breaks off: ${way}`, async (t) => {
      const { edge } = await startSite(t, (request, response) => {
        begin(request, response);
        setImmediate(() => response.destroy());
      });
      const text = await connectRaw(edge.port, get('/', body)).closed;
      assert.match(text, /^HTTP\/1\.1 (200 [\s\S]*begun|502 [\s\S]*originCut\n)$/);
      await eventually('logged', () => edge.log.length === 1);
      assert.match(codes(edge)[0] ?? '', /\/502$/);
    });

    test(`a client that leaves before or during its answer is logged alike: ${way}`, async (t) => {
      const { edge, origin } = await startSite(t, (request, response) => {
        if (request.target === '/begun') begin(request, response);
      });
      for (const [target, code] of [
        ['/', 'NONE/499'],
        ['/begun', /^TCP_MISS\/499$/],
      ] as const) {
        edge.log.length = 0;
        const client = connectRaw(edge.port, get(target, body));
        await eventually('asked', () => origin.requests.at(-1)?.target === target);
        if (target === '/begun') await eventually('begun', () => client.text().endsWith('begun'));
        client.socket.destroy();
        await eventually('logged', () => edge.log.length === 1);
        assert.match(codes(edge)[0] ?? '', new RegExp(code));
        assert.equal(edge.log[0]?.responseBytes, client.text().length);
      }
    });

    test(`an answer is alike when the edge stops: ${way}`, async (t) => {
      const { edge } = await startSite(t, begin);
      const client = connectRaw(edge.port, get('/', body));
      await eventually('begun', () => client.text().endsWith('begun'));
      await edge.edge.close(50);
      await client.closed;
      await eventually('logged', () => edge.log.length === 1);
      assert.match(codes(edge)[0] ?? '', /\/503$/);
    });
  }
});

describe('pipelined requests', () => {
  test('waiting pipelined requests of one client are not overwritten by bytes of others', async (t) => {
    let finish = () => {};
    const { edge, origin } = await startSite(t, (request, response) => {
      if (request.target !== '/slow') return targetIn(request, response);
      finish = () => targetIn(request, response);
    });
    const inTurn = connectRaw(edge.port, get('/slow') + get('/next', CLOSE));
    const inHalves = connectRaw(edge.port, get('/half', CLOSE).slice(0, 30));
    await eventually('asked', () => origin.requests.length === 1);
    await connectRaw(edge.port, get(`/${'x'.repeat(500)}`, CLOSE)).closed;
    inHalves.socket.write(get('/half', CLOSE).slice(30));
    assert.deepEqual(answersIn(await inHalves.closed), ['GET /half']);
    finish();
    assert.deepEqual(answersIn(await inTurn.closed), ['GET /slow', 'GET /next']);
  });

  const head = `HEAD /2 HTTP/1.1\r\n${HOST}\r\n`;
  const row = [get('/1'), head, get('/3?a=b', 'Cookie: caf\u00e9\r\n'), get('/4', CLOSE)].join('');

  test('pipelined requests are the same wherever they are cut', async (t) => {
    const { edge } = await startSite(t, targetIn);
    for (let at = 1; at < row.length; at++) {
      const client = connectRaw(edge.port);
      await once(client.socket, 'connect');
      client.socket.setNoDelay(true).write(row.slice(0, at), 'latin1');
      await turn();
      await turn();
      client.socket.write(row.slice(at), 'latin1');
      const text = await client.closed;
      assert.deepEqual(answersIn(text), ['GET /1', 'GET /3?a=b', 'GET /4'], String(at));
      assert.equal(statusesIn(text).length, 4);
    }
    assert.equal(edge.log.length, 4 * (row.length - 1));
  });

  test('pipelined requests may arrive byte by byte', async (t) => {
    const { edge } = await startSite(t, targetIn);
    const client = connectRaw(edge.port);
    client.socket.setNoDelay(true);
    for (const byte of Buffer.from(row, 'latin1')) {
      client.socket.write(Buffer.of(byte));
      await turn();
    }
    assert.deepEqual(answersIn(await client.closed), ['GET /1', 'GET /3?a=b', 'GET /4']);
  });

  test('pipelined requests are answered in order across the hand-over to node:http, and counted on', async (t) => {
    const { edge, origin } = await startSite(t, targetIn, { limits: { maxRequestsPerConnection: 5 } });
    const requests = get('/1') + get('/2') + post('/3', 'abc') + get('/4') + get('/5') + get('/6');
    const text = await connectRaw(edge.port, requests).closed;
    assert.deepEqual(answersIn(text), ['GET /1', 'GET /2', 'POST /3', 'GET /4', 'GET /5']);
    assert.equal(text.match(/^Connection: close\r$/gim)?.length, 1);
    assert.deepEqual(
      origin.requests.map(({ target }) => target),
      ['/1', '/2', '/3', '/4', '/5'],
    );
    assert.equal(origin.requests[2]?.body, 'abc');
  });

  test('an invalid pipelined request is refused after the requests before it are answered', async (t) => {
    const { edge } = await startSite(t, targetIn);
    const text = await connectRaw(edge.port, `${get('/1') + get('/2')}nonsense\r\n\r\n${get('/3')}`).closed;
    assert.deepEqual(answersIn(text), ['GET /1', 'GET /2']);
    assert.deepEqual(statusesIn(text), ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  test('pipelined requests of a client that leaves have a log line each', async (t) => {
    const { edge, origin } = await startSite(t, () => undefined);
    const client = connectRaw(edge.port, get('/1') + get('/2') + get('/3'));
    await eventually('asked', () => origin.requests.length === 1);
    client.socket.end();
    await client.closed;
    await eventually('logged', () => edge.log.length === 3);
    assert.deepEqual(codes(edge), Array(3).fill('NONE/499'));
    assert.equal(edge.edge.underWay, 0);
  });

  test('pipelined requests over TLS are answered, one of them by node:http', needs('openssl'), async (t) => {
    const edge = await startHttpsEdge(t, targetIn);
    const client = connectTls(t, edge);
    client.write(get('/1') + get('/2') + post('/3', 'abc') + get('/4', CLOSE));
    assert.deepEqual(answersIn(await readText(client)), ['GET /1', 'GET /2', 'POST /3', 'GET /4']);
    await eventually('logged', () => edge.log.length === 4);
    assert.ok(edge.log.every(({ responseBytes }) => responseBytes > 100));
  });
});

test('a client that reads no answers is cut, and few of its requests are kept', async (t) => {
  const { edge } = await startSite(t, reply('x'.repeat(1_000_000), FRESH), { limits: { clientIdleMs: 300 } });
  await edge.get('/');
  const client = connect(edge.port, '127.0.0.1').pause();
  client.on('error', () => undefined);
  client.write(get('/', `X-Padding: ${'x'.repeat(2_000)}\r\n`).repeat(10_000));
  await eventually('cut', () => edge.log.length > 1 && edge.edge.underWay === 0);
  assert.ok(edge.log.length < 200, String(edge.log.length));
  const cut = codes(edge).filter((code) => code === 'TCP_MEM_HIT/499');
  assert.equal(cut.length, 1);
  client.destroy();
});

test('the last answer of a connection reaches a client that reads it late and has sent far more', async (t) => {
  const { edge } = await startSite(t, reply('x'.repeat(1_000_000), FRESH), { limits: { maxRequestsPerConnection: 3 } });
  await edge.get('/');
  const client = connect({ port: edge.port, host: '127.0.0.1', allowHalfOpen: true }).pause();
  const problems: Error[] = [];
  client.on('error', (error) => problems.push(error));
  client.write(get('/', `X-Padding: ${'x'.repeat(2_000)}\r\n`).repeat(3_000));
  await eventually('all is read', () => edge.log.length === 4 && client.writableLength === 0);
  const text = readText(client);
  client.end();
  assert.equal(statusesIn(await text).length, 3);
  assert.ok((await text).endsWith(`Connection: close\r\n\r\n${'x'.repeat(1_000_000)}`));
  assert.deepEqual(problems, []);
});

describe('an idle connection', () => {
  const limits = { keepAliveMs: 600, requestHeaderMs: 600 };

  test('an idle connection is closed after the time for a first or a next request, and refused within half a request', async (t) => {
    const { edge } = await startSite(t, reply('x', FRESH), { limits });
    const half = get('/').slice(0, 20);
    const texts = await Promise.all(
      ['', get('/'), half, get('/') + half].map((bytes) => connectRaw(edge.port, bytes).closed),
    );
    assert.deepEqual(texts.map(statusesIn), [[], ['HTTP/1.1 200'], ['HTTP/1.1 408'], ['HTTP/1.1 200', 'HTTP/1.1 408']]);
  });

  test('an idle connection ends with the edge, even if the answer before is read after that', async (t) => {
    const { edge } = await startSite(t, reply('x'.repeat(100_000), FRESH));
    await edge.get('/');
    await edge.get('/');
    const client = connect(edge.port, '127.0.0.1').pause();
    let asked = 0;
    // Of requests one after the other the last finds no room, and none is behind it.
    for (; edge.edge.underWay === 0; asked++) {
      client.write(get('/'));
      await eventually('out, or under way', () => edge.log.length === asked + 3 || edge.edge.underWay === 1);
    }
    const closing = edge.edge.close(60_000);
    let text = '';
    client.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    client.resume();
    await eventually('ended', () => client.readableEnded);
    assert.equal(statusesIn(text).length, asked);
    client.destroy();
    await closing;
  });

  test('an idle connection ends at once with the edge, and one with half a request has time for the rest', async (t) => {
    const { edge } = await startSite(t, reply('x', FRESH));
    const clients = [
      connectRaw(edge.port),
      connectRaw(edge.port, get('/')),
      connectRaw(edge.port, get('/').slice(0, 20)),
    ];
    await eventually('answered', () => clients[1]?.text().endsWith('x') === true);
    await Promise.all(clients.map(({ socket }) => socket.connecting && once(socket, 'connect')));
    await edge.get('/'); // and so all have been taken
    const closing = edge.edge.close(60_000);
    await Promise.all(clients.slice(0, 2).map(({ closed }) => closed));
    clients[2]?.socket.write(get('/').slice(20));
    assert.match((await clients[2]?.closed) ?? '', /^HTTP\/1\.1 200 [\s\S]*Connection: close\r\n[\s\S]*x$/i);
    await closing;
  });
});
