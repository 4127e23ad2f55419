/**
 * Connections read by the edge, or handed to node:http, when one side ends them: the answers sent, and a log line for each
 * request.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { connectRaw, SITE_HOST, startTestEdge, type TestEdge } from '../support/edge/edge.ts';
import { type Answer, reply } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;
const FRESH = { 'cache-control': 'max-age=600' };
/** A field that sends the connection of a GET to node:http. */
const BODY = 'Content-Length: 0\r\n';

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\n${HOST}${more}\r\n`;
const post = (path: string, body: string, more = '') =>
  `POST ${path} HTTP/1.1\r\n${HOST}Content-Length: ${body.length}\r\n${more}\r\n${body}`;
const targetIn: Answer = (request, response) => reply(`[${request.method} ${request.target}]`)(request, response);
const answersIn = (text: string) => Array.from(text.matchAll(/\[(\w+ [^\]]*)\]/g), ([, answer]) => answer);
const codes = (edge: TestEdge) => edge.log.map((fields) => fields.result);

describe('pipelined requests', () => {
  test('pipelined requests of a client that leaves, one of them for node:http, have a log line each', async (t) => {
    const { edge, origin } = await startSite(t, () => undefined);
    const http10 = `GET /3 HTTP/1.0\r\n${HOST}\r\n`;
    const client = connectRaw(
      edge.port,
      get('/1') + post('/2', 'abc') + http10 + get('/4') + post('/5', 'abc').slice(0, -1),
    );
    await eventually('asked', () => origin.requests.length === 1);
    client.socket.end();
    await client.closed;
    await eventually('logged', () => edge.log.length === 5);
    assert.deepEqual(codes(edge), Array(5).fill('NONE/499'));
    assert.deepEqual(edge.log.map((fields) => `${fields.method} ${fields.target} ${fields.protocol}`).sort(), [
      'GET /1 HTTP/1.1',
      'GET /3 HTTP/1.0',
      'GET /4 HTTP/1.1',
      'POST /2 HTTP/1.1',
      'POST /5 HTTP/1.1',
    ]);
  });

  const stops: readonly (readonly [what: string, first: string, cached: string, code: string])[] = [
    ['of the pipeline', get('/cold'), '', 'TCP_MISS/503'],
    ['of node:http', get('/cold', BODY), '', 'TCP_MISS/503'],
    ['that was kept ready', get('/'), '/', 'TCP_MEM_HIT/503'],
  ];
  for (const [what, first, cached, code] of stops) {
    test(`pipelined requests after an answer ${what} that a stop cuts have a log line each, which says so`, async (t) => {
      const body = 'x'.repeat(20_000_000); // more than a system keeps for a connection
      const { edge } = await startSite(t, reply(body, FRESH), { cacheBytes: 256 * 1024 * 1024 });
      if (cached !== '') for (let asked = 0; asked < 2; asked++) await edge.get(cached);
      edge.log.length = 0;
      const client = connect(edge.port, '127.0.0.1');
      client.on('error', () => undefined);
      client.write(first + get('/2') + post('/3', 'abc'));
      await once(client, 'readable'); // and no more of it is taken
      await edge.edge.close(0);
      await eventually('logged', () => edge.log.length === 3);
      assert.deepEqual(
        edge.log
          .map((fields) => `${fields.target} ${fields.result} ${fields.responseBytes === 0 ? 'nothing' : 'some'}`)
          .sort(),
        ['/2 NONE/503 nothing', '/3 NONE/503 nothing', `${cached || '/cold'} ${code} some`].sort(),
      );
      client.destroy();
    });
  }
});

describe('a client that has said all', () => {
  test('a client that has ended its side gets what is in memory, and then the connection ends', async (t) => {
    const body = 'x'.repeat(20_000_000); // more than a system keeps for a connection
    const { edge } = await startSite(t, reply(body, FRESH), { cacheBytes: 256 * 1024 * 1024 });
    await edge.get('/');
    const client = connect({ port: edge.port, host: '127.0.0.1', allowHalfOpen: true }).pause();
    client.end(get('/'));
    await eventually('it waits for the client', () => edge.edge.underWay === 1);
    assert.ok((await readText(client)).endsWith(`\r\n\r\n${body}`));
    await eventually('logged', () => edge.log.length === 2);
    assert.equal(codes(edge)[1], 'TCP_MEM_HIT/200');
  });

  test('a client that has ended its side gets all answers, even if a request after its GETs is for node:http', async (t) => {
    const body = 'x'.repeat(20_000_000);
    const { edge } = await startSite(
      t,
      (request, response) => {
        if (request.target === '/large') reply(body, FRESH)(request, response);
        else targetIn(request, response);
      },
      {
        cacheBytes: 256 * 1024 * 1024,
        limits: { halfClosedMs: 60_000 }, // a slow machine must not make this client count as gone
      },
    );
    await edge.get('/large');
    const http10 = `GET /3 HTTP/1.0\r\n${HOST}\r\n`;
    const half = post('/2', 'abc').slice(0, -1);
    for (const [behind, answers, lines] of [
      [get('/1') + post('/2', 'abc') + post('/3', ''), ['GET /1', 'POST /2', 'POST /3'], Array(3).fill('TCP_MISS/200')],
      [http10, ['GET /3'], ['TCP_MISS/200']],
      [get('/1') + half, ['GET /1'], ['NONE/499', 'TCP_MISS/200']],
    ] as const) {
      const client = connect({ port: edge.port, host: '127.0.0.1', allowHalfOpen: true }).pause();
      edge.log.length = 0;
      client.end(get('/large') + behind);
      await eventually('it waits for the client', () => edge.edge.underWay === 1 && client.writableFinished);
      const text = await readText(client);
      assert.deepEqual(answersIn(text.slice(body.length)), answers);
      await eventually('logged', () => edge.log.length === lines.length + 1);
      assert.deepEqual(codes(edge).sort(), ['TCP_MEM_HIT/200', ...lines].sort());
    }
  });

  test('a client that ends its side after half a request gets nothing', async (t) => {
    const edge = await startTestEdge(t, [1]);
    for (const bytes of ['', get('/').slice(0, -2)]) {
      const client = connectRaw(edge.port);
      client.socket.end(bytes);
      assert.equal(await client.closed, '');
    }
    assert.deepEqual(edge.log, []);
  });
});

for (const [way, more] of [
  ['ours', ''],
  ['node:http', BODY],
] as const) {
  test(`a client that reads slowly gets the rest of its answer when the edge stops: ${way}`, async (t) => {
    const body = 'x'.repeat(20_000_000); // more than a system keeps for a connection
    const { edge } = await startSite(t, reply(body, FRESH), { cacheBytes: 256 * 1024 * 1024 });
    const client = connect(edge.port, '127.0.0.1');
    client.write(get('/', more));
    await once(client, 'readable'); // and no more of it is taken
    await edge.get('/'); // all of it is there
    const closing = edge.edge.close(60_000);
    assert.ok((await readText(client)).endsWith(`\r\n\r\n${body}`));
    await closing;
    await eventually('logged', () => edge.log.length === 2);
    assert.ok(
      codes(edge).every((code) => code?.endsWith('/200')),
      codes(edge).join(),
    );
  });
}
