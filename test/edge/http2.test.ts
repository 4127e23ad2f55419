/** HTTP/2 at the edge, by node:http2's client and curl: the same answers as over HTTP/1.1, and what is particular to streams. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type ClientHttp2Session, constants, type OutgoingHttpHeaders } from 'node:http2';
import { describe, test } from 'node:test';
import { loopback, NO_ORIGINS, SITE_HOST } from '../support/edge/edge.ts';
import { answerOf, ask, open } from '../support/edge/http2-client.ts';
import { connectFrames, FLAGS, type FrameClient, fields, frame } from '../support/edge/http2-frames.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import { reply, startRawOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const HOUR = { 'cache-control': 'max-age=3600' };
const NEEDS = needs('openssl');

const get = (session: ClientHttp2Session, path: string, headers: OutgoingHttpHeaders = {}) =>
  answerOf(ask(session, { ':path': path, ...headers }));

describe('answers over HTTP/2', NEEDS, () => {
  test('hits, ranges, 304, HEAD, errors and large bodies are as over HTTP/1.1', async (t) => {
    const body = 'x'.repeat(3_000_000);
    const edge = await startHttpsEdge(t, reply(body, { ...HOUR, etag: '"a"' }));
    const session = open(t, edge);
    const miss = await get(session, '/');
    assert.deepEqual(
      [miss.status, miss.headers['x-cache'], miss.body.length, miss.code],
      [200, 'MISS', body.length, 0],
    );
    const rows: readonly (readonly [headers: OutgoingHttpHeaders, status: number, xCache: string, length: number])[] = [
      [{}, 200, 'HIT', body.length],
      [{ range: 'bytes=10-19' }, 206, 'HIT', 10],
      [{ range: 'bytes=1-2,5-6' }, 206, 'HIT', -1],
      [{ range: 'bytes=9999999-' }, 416, 'HIT', -1],
      [{ 'if-none-match': '"a"' }, 304, 'HIT', 0],
      [{ ':method': 'HEAD' }, 200, 'HIT', 0],
      [{ ':method': 'TRACE' }, 405, 'ERROR method', -1],
      [{ ':path': '/%zz' }, 400, 'ERROR target', -1],
      [{ ':path': `/${'a'.repeat(9000)}` }, 414, 'ERROR targetTooLong', -1],
      [{ 'cdn-loop': 'causeway' }, 508, 'ERROR loop', -1],
      [{ expect: 'something' }, 417, 'ERROR expectation', -1],
      [{ 'if-range': ['a', 'b'] as never, ':path': '/repeated' }, 400, 'ERROR repeatedField', -1],
      [{ 'x-large': 'a'.repeat(40_000) }, 431, 'ERROR headerTooLarge', -1],
    ];
    for (const [headers, status, xCache, length] of rows) {
      const answer = await answerOf(ask(session, { ':path': '/', ...headers }));
      const what = JSON.stringify(headers).slice(0, 60);
      assert.deepEqual([answer.status, answer.headers['x-cache'], answer.code], [status, xCache, 0], what);
      if (length >= 0) assert.equal(answer.body.length, length, what);
      if (status === 200) assert.equal(answer.headers['content-length'], String(body.length));
      for (const name of ['connection', 'keep-alive', 'transfer-encoding'])
        assert.equal(answer.headers[name], undefined);
    }
    assert.equal(edge.origin.requests.length, 1);
    await eventually('each is logged', () => edge.log.length === rows.length + 1);
    assert.ok(edge.log.every((fields) => fields.protocol === 'HTTP/2.0'));
    const [first] = edge.log;
    assert.deepEqual(
      [first?.host, first?.method, first?.target, first?.result],
      [SITE_HOST, 'GET', '/', 'TCP_MISS/200'],
    );
    const headBytes = (first?.responseBytes ?? 0) - body.length;
    assert.ok(headBytes > 0 && headBytes < 1000);
  });

  test('an HTTP/2 request reaches the origin with host, scheme, one cookie field, and no hop-by-hop field', async (t) => {
    const edge = await startHttpsEdge(t);
    const session = open(t, edge);
    await get(session, '/a?b=1', { cookie: ['a=1', 'b=2'], te: 'trailers', 'x-own': ['1', '2'], 'x-latin': '\xe4' });
    const [seen] = edge.origin.requests;
    assert.deepEqual(
      ['host', 'x-forwarded-proto', 'via', 'cookie', 'te', 'x-own', 'x-latin'].map((name) => seen?.headers[name]),
      [SITE_HOST, 'https', '2.0 causeway', 'a=1; b=2', undefined, '1, 2', '\xe4'],
    );
    assert.equal(seen?.target, '/a?b=1');
  });

  test('HTTP/2 requests with two hosts, another scheme, a port, or an invalid method or target are answered', async (t) => {
    const edge = await startHttpsEdge(t);
    const session = open(t, edge);
    const rows: readonly (readonly [headers: OutgoingHttpHeaders, status: number, xCache: string])[] = [
      [{ host: SITE_HOST }, 200, 'MISS noReuse'],
      [{ host: SITE_HOST.toUpperCase() }, 200, 'MISS noReuse'],
      [{ host: 'other.example.com' }, 400, 'ERROR host'],
      [{ ':authority': undefined, host: SITE_HOST }, 200, 'MISS noReuse'],
      [{ ':authority': `${SITE_HOST}:443` }, 200, 'MISS noReuse'],
      [{ ':authority': `${SITE_HOST}:99999` }, 400, 'ERROR host'],
      [{ ':scheme': 'http' }, 400, 'ERROR hostMismatch'],
      [{ ':scheme': 'ftp' }, 400, 'ERROR target'],
      [{ ':method': 'OPTIONS', ':path': '*' }, 200, 'OWN serverOptions'],
      [{ ':method': 'GOT' }, 400, 'ERROR malformed'],
    ];
    for (const [headers, status, xCache] of rows) {
      const answer = await answerOf(ask(session, { ':path': '/', ...headers }));
      assert.deepEqual([answer.status, answer.headers['x-cache']], [status, xCache], JSON.stringify(headers));
    }
  });

  test('answers are multiplexed: a slow one delays no other', async (t) => {
    const edge = await startHttpsEdge(t, (request, response) => {
      if (request.target !== '/slow') reply(request.target)(request, response);
    });
    const session = open(t, edge);
    const slow = ask(session, { ':path': '/slow' });
    const others = await Promise.all(Array.from({ length: 50 }, (_, index) => get(session, `/${index}`)));
    assert.deepEqual(
      others.map(({ body }) => body),
      others.map((_, index) => `/${index}`),
    );
    slow.close(constants.NGHTTP2_CANCEL);
    await eventually('the client left', () => edge.log.some((fields) => fields.result === 'NONE/499'));
  });
});

test('a request that is refused before the handler sees it is logged and counted all the same', NEEDS, async (t) => {
  const edge = await startHttpsEdge(t, undefined, { limits: { keepAliveMs: 300 } });
  const ended = FLAGS.endHeaders | FLAGS.endStream;
  const head = (...more: readonly (readonly [string, string])[]) =>
    fields([':method', 'GET'], [':scheme', 'https'], [':authority', SITE_HOST], [':path', '/'], ...more);
  const bad = [
    head(['Upper', 'x']),
    head(['connection', 'close']),
    head(['content-length', 'x']),
    head([':path', '/']),
  ];
  const ask = (client: FrameClient, heads: readonly Buffer[]) =>
    client.send(Buffer.concat(heads.map((bytes, index) => frame('headers', ended, 2 * index + 1, bytes))));
  const between = await connectFrames(edge.httpsPort, SITE_HOST);
  await ask(between, [head(), ...bad, head()]);
  await eventually('those before a good one', () => edge.log.length === 6);
  const leaving = await connectFrames(edge.httpsPort, SITE_HOST);
  await ask(leaving, bad.slice(0, 2));
  await eventually('they are refused', () => leaving.resets.length === 2);
  leaving.socket.end();
  await eventually('those of a client that leaves', () => edge.log.length === 8);
  const idle = await connectFrames(edge.httpsPort, SITE_HOST);
  await ask(idle, [head(), ...bad.slice(0, 1)]);
  await eventually('those of a client that is told to leave', () => edge.log.length === 10);
  await Promise.all([between.closed, idle.closed]);
  const refused = edge.log.filter((fields) => fields.result !== 'TCP_MISS/200');
  assert.deepEqual(
    refused.map(({ client, requestBytes, responseBytes, host, method, target, protocol, result }) =>
      [client, requestBytes, responseBytes, host, method, target, protocol, result].join(' '),
    ),
    Array.from({ length: 7 }, () => '127.0.0.1 0 0 - - - HTTP/2.0 NONE/400'),
  );
  assert.equal(edge.log.length, 10);
  assert.match(await edge.registry.metrics(), /requests_total\{[^}]*malformed[^}]*\} 7/);
});

describe('HTTP/2 requests with a body', NEEDS, () => {
  test('a body over HTTP/2 arrives with and without a length, empty, and after 100; too large it is refused', async (t) => {
    const edge = await startHttpsEdge(
      t,
      (request, response) => reply(`got ${request.body.length}`)(request, response),
      {
        limits: { maxRequestBodyBytes: 1000 },
      },
    );
    const session = open(t, edge);
    const post = (headers: OutgoingHttpHeaders, body: string) =>
      answerOf(ask(session, { ':method': 'POST', ':path': '/', ...headers }, body));
    assert.equal((await post({}, 'x'.repeat(500))).body, 'got 500');
    assert.equal(edge.origin.requests[0]?.headers['content-length'], '500');
    assert.equal((await post({ 'content-length': 3 }, 'abc')).body, 'got 3');
    assert.equal(edge.origin.requests[1]?.headers['content-length'], '3');
    assert.equal((await post({}, '')).body, 'got 0');
    assert.equal((await answerOf(ask(session, { ':method': 'POST', ':path': '/' }))).body, 'got 0');
    const waiting = await post({ expect: '100-continue' }, 'abc');
    assert.deepEqual([waiting.body, waiting.interim], ['got 3', [100]]);
    const large = await post({}, 'x'.repeat(2000));
    assert.deepEqual([large.status, large.headers['x-cache']], [413, 'ERROR bodyTooLarge']);
    assert.equal((await post({ 'content-length': 2000 }, 'x'.repeat(2000))).status, 413);
    // Such a GET goes past the cache.
    const body = await answerOf(ask(session, { ':path': '/', ':method': 'GET' }, 'abc'));
    assert.deepEqual([body.body, body.headers['x-cache']], ['got 3', 'BYPASS requestBody']);
    // One that is not of its own length never gets here whole.
    const short = await post({ 'content-length': 9 }, 'abc');
    assert.notEqual(short.code, 0);
    assert.equal((await get(session, '/')).status, 200);
  });

  test("a large body over HTTP/2 reaches the origin unchanged, at the origin's pace, beside others", async (t) => {
    const edge = await startHttpsEdge(t, (request, response) =>
      reply(createHash('sha256').update(request.body, 'latin1').digest('hex'))(request, response),
    );
    const session = open(t, edge);
    const bodies = [3_000_000, 200_000, 1, 65_536].map((size) =>
      Array.from({ length: size }, (_, index) => String.fromCharCode(97 + ((index * 7 + size) % 26))).join(''),
    );
    const answers = await Promise.all(
      bodies.map((body) => answerOf(ask(session, { ':method': 'POST', ':path': '/' }, body))),
    );
    assert.deepEqual(
      answers.map(({ body, code }) => [body, code]),
      bodies.map((body) => [createHash('sha256').update(body, 'latin1').digest('hex'), 0]),
    );
    await eventually('logged', () => edge.log.length === bodies.length);
    for (const [index, { length }] of bodies.entries())
      assert.ok(
        edge.log.some((fields) => fields.requestBytes > length && fields.requestBytes < length + 500),
        `${index}`,
      );
  });

  test('a body over HTTP/2 that does not arrive in time is answered 408', async (t) => {
    const edge = await startHttpsEdge(t, undefined, { limits: { requestMs: 200, requestHeaderMs: 200 } });
    const session = open(t, edge);
    const stream = session.request({ ':method': 'POST', ':path': '/', ':authority': SITE_HOST });
    stream.on('error', () => undefined);
    stream.write('a');
    const answer = await answerOf(stream);
    assert.deepEqual([answer.status, answer.headers['x-cache']], [408, 'ERROR requestTimeout']);
    await eventually('logged', () => edge.log[0]?.result === 'NONE/408');
    assert.equal((await get(session, '/')).status, 200);
  });
});

test('responses that HTTP/1.1 allows and HTTP/2 cannot express are converted', NEEDS, async (t) => {
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  const rows: readonly (readonly [said: string, status: number, body: string, interim?: readonly number[]])[] = [
    [`HTTP/1.1 103 x\r\nHTTP2-Settings: AAA\r\nTE: x\r\nKeep-Alive: x\r\nLink: </a>\r\n\r\n${ok}`, 200, 'ok', [103]],
    [`HTTP/1.1 103 x\r\n__proto__: x\r\nLink: </a>\r\nLink: </b>\r\n\r\n${ok}`, 200, 'ok', [103]],
    [ok.replace('\r\n\r\n', '\r\nHTTP2-Settings: AAA\r\nProxy-Connection: x\r\n__proto__: x\r\n\r\n'), 200, 'ok'],
    ['HTTP/1.1 205 x\r\nContent-Length: 2\r\n\r\nno', 205, ''],
    ['HTTP/1.1 205 x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n', 205, ''],
    ['HTTP/1.1 204 x\r\nContent-Length: 2\r\n\r\n', 204, ''],
    // Numbers beyond 599 are to be taken for a fault of the server. RFC 9110 §15
    [ok.replace('200', '600'), 500, 'ok'],
    [ok.replace('200', '999'), 500, 'ok'],
  ];
  const origin = await startRawOrigin(t, (socket, _head, count) => socket.end(rows[count - 1]?.[0] ?? ''));
  const edge = await startHttpsEdge(t);
  edge.putTls(SITE_HOST, {}, { origins: { ...NO_ORIGINS, primary: loopback([origin.port]) } });
  const session = open(t, edge);
  for (const [index, [said, status, body, interim = []]] of rows.entries()) {
    const answer = await get(session, `/${index}`);
    assert.deepEqual([answer.status, answer.body, answer.interim, answer.code], [status, body, interim, 0], said);
  }
  await eventually('logged', () => edge.log.length === rows.length);
  assert.deepEqual(
    edge.log.map((fields) => fields.result),
    rows.map(([, status]) => `TCP_MISS/${status}`),
  );
});

describe('HTTP/2 answers that do not end in order', NEEDS, () => {
  test('interim answers pass, trailers do not, and a body that breaks off resets its stream alone', async (t) => {
    const edge = await startHttpsEdge(t, (request, response) => {
      if (request.target === '/early') {
        response.writeEarlyHints({ link: ['</a>; rel=preload', '</b>; rel=preload'] });
        response.writeHead(200, { trailer: 'x-sum' });
        response.addTrailers({ 'x-sum': '1' });
        response.end('late');
      } else if (request.target === '/cut') {
        response.writeHead(200, request.headers['x-length'] === '1' ? { 'content-length': '1000000' } : {});
        response.write('x'.repeat(100_000), () => response.destroy());
      } else reply('whole')(request, response);
    });
    const session = open(t, edge);
    const early = await get(session, '/early');
    assert.deepEqual([early.interim, early.body], [[103], 'late']);
    for (const known of ['0', '1']) {
      const cut = await get(session, '/cut', { 'x-length': known });
      assert.deepEqual([cut.status, cut.code], [200, constants.NGHTTP2_INTERNAL_ERROR], `length known: ${known}`);
    }
    assert.equal((await get(session, '/')).body, 'whole');
    await eventually('logged', () => edge.log.some((fields) => fields.result === 'TCP_MISS/502'));
  });

  test('a stream that reads nothing is cut in time, the other streams of its client are not', async (t) => {
    const edge = await startHttpsEdge(t, reply('x'.repeat(2_000_000), HOUR), { limits: { clientIdleMs: 600 } });
    const session = open(t, edge);
    await get(session, '/');
    const stream = session.request({ ':path': '/', ':authority': SITE_HOST });
    stream.on('error', () => undefined);
    stream.pause();
    await eventually('cut', () => stream.closed || edge.log.some((fields) => fields.result === 'TCP_MEM_HIT/499'));
    assert.equal((await get(session, '/')).body.length, 2_000_000);
  });

  test('a connection gets GOAWAY when it is idle, has had its requests, or the edge ends', async (t) => {
    const edge = await startHttpsEdge(t, undefined, { limits: { keepAliveMs: 200, maxRequestsPerConnection: 3 } });
    const idle = open(t, edge);
    await get(idle, '/');
    const [code] = await once(idle, 'goaway');
    assert.equal(code, constants.NGHTTP2_NO_ERROR);
    const worn = open(t, edge);
    const answers = await Promise.all([1, 2, 3].map(() => get(worn, '/')));
    assert.ok(answers.every(({ status }) => status === 200));
    await eventually('closed', () => worn.closed);

    const ending = await startHttpsEdge(t, (request, response) => {
      setTimeout(() => reply('late')(request, response), 100);
    });
    const last = open(t, ending);
    const answer = get(last, '/');
    await eventually('it is under way', () => ending.origin.requests.length === 1);
    await ending.edge.close(5_000);
    assert.equal((await answer).body, 'late');
    await eventually('its connection is closed', () => last.closed);
  });
});
