/**
 * Faults that users of other caches and proxies reported in public, one test each, named after the report. Those about parts
 * that this edge does not have yet (slices, followed redirects, customers' patterns) come with them; those about compression are in
 * edge-compression.test.ts, those about WebSocket in edge-web-socket.test.ts.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createGuard } from '../../src/edge/origin/guard.ts';
import { connectRaw, NO_ORIGINS, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin, startRawOrigin } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';

const FRESH = { 'cache-control': 'public, max-age=60' };
const SHORT = { 'cache-control': 'max-age=10', etag: '"1"' };

test("souin#805: a client's cookie is not replayed to another, by GET, HEAD or range, stale or renewed", async (t) => {
  let count = 0;
  const { edge, origin } = await startSite(t, (request, response) => {
    const headers = { ...FRESH, 'set-cookie': `session=${++count}` };
    reply(`for ${count}`, headers)(request, response);
  });
  const [first, second] = [await edge.get('/'), await edge.get('/')];
  assert.deepEqual([first.headers['set-cookie'], second.headers['set-cookie']], ['session=1', 'session=2']);
  assert.deepEqual([first.body, second.body], ['for 1', 'for 2']);
  // A cookie that comes with a 304 is for the client whose request was validated.
  origin.answer(reply('plain', SHORT));
  await edge.get('/b');
  edge.advance(20_000);
  origin.answer((_request, response) => {
    response.writeHead(304, { 'cache-control': 'max-age=600', etag: '"1"', 'set-cookie': 'session=private' }).end();
  });
  await edge.get('/b');
  origin.answer(reply('next', FRESH));
  assert.equal((await edge.get('/b')).headers['set-cookie'], undefined);
});

test('ocache#61: each of 20 concurrent clients gets a cookie of its own', async (t) => {
  let count = 0;
  const { edge } = await startSite(t, (request, response) => {
    const own = ++count;
    setTimeout(() => reply(`${own}`, { ...FRESH, 'set-cookie': `s=${own}` })(request, response), 20);
  });
  const all = await Promise.all(Array.from({ length: 20 }, () => edge.get('/')));
  assert.equal(new Set(all.map(({ headers }) => headers['set-cookie'])).size, 20);
});

test('cache-handler#82: a private answer to the first of many is not shared, and the others do not queue', async (t) => {
  const held: (() => void)[] = [];
  const origin = await startOrigin(t, (request, response) => {
    const isFirst = origin.requests.length === 1;
    const headers = { 'cache-control': isFirst ? 'private, max-age=60' : 'max-age=60' };
    held.push(() => reply(isFirst ? 'mine' : 'ours', headers)(request, response));
  });
  const edge = await startTestEdge(t, [origin.port]);
  const all = Promise.all(Array.from({ length: 10 }, () => edge.get('/')));
  await eventually('led', () => held.length === 1);
  held.splice(0)[0]?.();
  await eventually('the others at once', () => held.length === 9, 4_500);
  for (const answer of held) answer();
  assert.equal((await all).filter(({ body }) => body === 'mine').length, 1);
});

test('souin#192, trafficserver#12618, envoy#22975: answers for one coding, or one value, never reach another', async (t) => {
  const { edge } = await startSite(t, (request, response) => {
    const coding = request.headers['accept-encoding'] ?? 'identity';
    const own = `${coding} ${request.headers['x-a']}`;
    reply(own, { ...FRESH, vary: request.target === '/any' ? '*' : 'Accept-Encoding, X-A' })(request, response);
  });
  const codings = [undefined, 'gzip', 'br', 'gzip;q=0', 'zstd'];
  for (let round = 0; round < 2; round++) {
    for (const coding of codings) {
      for (const value of ['1', '2']) {
        const headers = ['X-A', value, ...(coding === undefined ? [] : ['Accept-Encoding', coding])];
        // What is refused is as good as not named, so the first of the two answers for both.
        const expected = coding === 'gzip;q=0' ? ['gzip;q=0', 'identity'] : [coding ?? 'identity'];
        const { body } = await edge.get('/', { headers });
        assert.ok(
          expected.some((each) => body === `${each} ${value}`),
          `${coding}: ${body}`,
        );
      }
    }
  }
  await edge.get('/any');
  assert.equal((await edge.get('/any')).headers['x-cache'], 'MISS varyAny');
});

test('souin#794: a client without conditions never gets the 304 of a validation', async (t) => {
  const { edge, origin } = await startSite(t, reply('body', SHORT));
  await edge.get('/');
  edge.advance(20_000);
  origin.answer((_request, response) => response.writeHead(304, SHORT).end());
  const { status, body, headers } = await edge.get('/');
  assert.deepEqual([status, body, headers['content-length']], [200, 'body', '4']);
});

test('caddy-cache#28, EdgeNode#1: a condition on a cold cache fills it, and no empty answer is stored', async (t) => {
  const { edge } = await startSite(t, (request, response) => {
    if (request.headers['if-none-match'] === '"1"') return void response.writeHead(304, { etag: '"1"' }).end();
    reply('body', { ...FRESH, etag: '"1"' })(request, response);
  });
  assert.equal((await edge.get('/', { headers: ['If-None-Match', '"1"'] })).status, 304);
  const after = await edge.get('/');
  assert.deepEqual([after.status, after.body, after.headers['x-cache']], [200, 'body', 'HIT']);
});

test('squid bug 5538: a 304 with Content-Length: 0 does not change the length of what is stored', async (t) => {
  const origin = await startRawOrigin(t, (socket, _head, count) => {
    if (count === 1) {
      socket.write('HTTP/1.1 200 OK\r\nCache-Control: max-age=10\r\nETag: "1"\r\nContent-Length: 5\r\n\r\nhello');
    } else {
      socket.write('HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=600\r\nETag: "1"\r\nContent-Length: 0\r\n\r\n');
    }
  });
  const edge = await startTestEdge(t, [origin.port]);
  await edge.get('/');
  edge.advance(20_000);
  for (const mark of ['REVALIDATED', 'HIT']) {
    const { body, headers, isWhole } = await edge.get('/');
    assert.deepEqual([headers['x-cache'], body, headers['content-length'], isWhole], [mark, 'hello', '5', true]);
  }
});

test('httpcache#51, trafficserver#11308: a part is never served as the whole, nor a failed validation as a part', async (t) => {
  const { edge, origin } = await startSite(t, (request, response) => {
    if (request.headers['range'] === undefined) return reply('0123456789', FRESH)(request, response);
    reply('01234', { ...SHORT, 'content-range': 'bytes 0-4/10' }, 206)(request, response);
  });
  const headers = ['Range', 'bytes=0-4'];
  assert.equal((await edge.get('/', { headers })).status, 206);
  const whole = await edge.get('/');
  assert.deepEqual([whole.status, whole.body], [200, '0123456789']);
  await edge.get('/b', { headers });
  edge.advance(20_000);
  origin.answer(reply('no', {}, 500));
  const failed = await edge.get('/b', { headers });
  assert.deepEqual([failed.status, failed.body, failed.headers['content-range']], [500, 'no', undefined]);
});

test('cache-tests#146: a refused second part is not appended to the first one', async (t) => {
  const { edge } = await startSite(t, (request, response) => {
    if (request.headers['range'] !== 'bytes=0-4') return reply('forbidden', {}, 403)(request, response);
    reply('01234', { ...FRESH, etag: '"1"', 'content-range': 'bytes 0-4/10' }, 206)(request, response);
  });
  await edge.get('/', { headers: ['Range', 'bytes=0-4'] });
  for (const headers of [[], ['Range', 'bytes=0-9'], ['Range', 'bytes=3-7']]) {
    const { status, body } = await edge.get('/', { headers });
    assert.deepEqual([status, body], [403, 'forbidden']);
  }
  assert.equal((await edge.get('/', { headers: ['Range', 'bytes=1-2'] })).body, '12');
});

test('tempesta#416, cacheable-response#86: a GET after a HEAD, even one of a stale object, has its body', async (t) => {
  const windows = { 'cache-control': 'max-age=10, stale-while-revalidate=600', etag: '"1"' };
  const { edge, origin } = await startSite(t, reply('body', windows));
  await edge.get('/', { method: 'HEAD' });
  assert.equal((await edge.get('/')).body, 'body');
  edge.advance(20_000);
  assert.equal((await edge.get('/', { method: 'HEAD' })).headers['x-cache'], 'STALE');
  await eventually('renewed by a GET', () => origin.requests.length === 3);
  assert.equal(origin.requests[2]?.method, 'GET');
  for (let i = 0; i < 3; i++) assert.equal((await edge.get('/')).body, 'body');
});

test('webjs#1097, govuk-cdn-config#414: a field outside the key does not reach an origin that would reflect it', async (t) => {
  const claims = ['X-Forwarded-Host', 'X-Host', 'X-Forwarded-Server', 'X-Original-URL', 'X-Rewrite-URL', 'Forwarded'];
  const { edge } = await startSite(t, (request, response) => {
    const reflected = ['x-forwarded-host', 'x-original-url', 'x-rewrite-url', 'forwarded', 'x-forwarded-server'];
    reply(reflected.map((name) => request.headers[name]).join(), FRESH)(request, response);
  });
  await edge.get('/', { headers: claims.flatMap((name) => [name, 'evil.example']) });
  assert.doesNotMatch((await edge.get('/')).body, /evil/);
});

test('CVE-2026-29057: chunks after DELETE or OPTIONS are a body, not the next request', async (t) => {
  const { edge, origin } = await startSite(t, reply('ok'));
  const inner = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
  for (const method of ['DELETE', 'OPTIONS']) {
    const head = `${method} / HTTP/1.1\r\nHost: ${SITE_HOST}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`;
    await connectRaw(edge.port, `${head}${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`).closed;
    assert.equal(origin.requests.at(-1)?.body, inner);
  }
  assert.equal(origin.requests.length, 2);
});

test('tinyproxy#616, sozu#726, llhttp#242: a transfer coding that is not quite chunked is refused and ends the connection', async (t) => {
  const { edge, origin } = await startSite(t, reply('ok'));
  const values = [
    'chunked,',
    ',chunked',
    'chunked\t',
    'chunked;a=b',
    'chunked chunked',
    'xchunked',
    'chunke',
    'identity',
    'chunked,,',
  ];
  for (const value of values) {
    const head = `POST / HTTP/1.1\r\nHost: ${SITE_HOST}\r\nTransfer-Encoding: ${value}\r\n\r\n`;
    const text = await connectRaw(edge.port, `${head}0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`)
      .closed;
    assert.match(text, /^HTTP\/1\.1 (400|501) /, value);
    assert.equal(text.split('HTTP/1.1 ').length, 2, value);
  }
  assert.equal(origin.requests.length, 0);
});

test('envoy#45360, preflight#143: a name that moves to a private address is refused at the connection', async (t) => {
  const origin = await startOrigin(t, (request, response) => {
    reply('inner', { connection: 'close' })(request, response);
  });
  let count = 0;
  const resolve = async () => (++count === 1 ? ['127.0.0.2'] : ['::ffff:127.0.0.1']);
  const guard = createGuard({ allow: ['127.0.0.2/32'], refuse: [] });
  const origins = { ...NO_ORIGINS, primary: [{ host: 'moves.example', port: origin.port }] };
  const edge = await startTestEdge(t, origins, { resolve, guard });
  await edge.get('/');
  const second = await edge.get('/');
  assert.deepEqual([second.status, second.headers['x-cache']], [502, 'ERROR originForbidden']);
  assert.equal(origin.requests.length, 0);
});

test('souin#846: a stale answer in place of an error has the stored bytes once', async (t) => {
  const { edge, origin } = await startSite(
    t,
    reply('stored bytes', { 'cache-control': 'max-age=10, stale-if-error=600' }),
  );
  await edge.get('/');
  edge.advance(20_000);
  origin.answer(reply('an error page', {}, 500));
  const { status, body, headers } = await edge.get('/');
  assert.deepEqual([status, body, headers['content-length']], [200, 'stored bytes', '12']);
});

test('cache-handler#26, souin#456: a purge takes variants, parts, HEAD and stale copies', async (t) => {
  let version = 'old';
  const { edge } = await startSite(t, (request, response) => {
    const headers = { ...SHORT, 'cache-control': 'max-age=10, stale-while-revalidate=600', vary: 'Accept-Encoding' };
    if (request.headers['range'] === undefined) return reply(`${version} body`, headers)(request, response);
    reply(version, { ...headers, 'content-range': 'bytes 0-2/8' }, 206)(request, response);
  });
  const ask = async (headers: readonly string[]) => (await edge.get('/', { headers })).body.slice(0, 3);
  const all = [['Range', 'bytes=0-2'], ['Accept-Encoding', 'gzip'], ['Accept-Encoding', 'br'], []];
  for (const headers of all) assert.equal(await ask(headers), 'old');
  edge.advance(20_000);
  version = 'new';
  edge.purge({ kind: 'url', target: `${SITE_HOST}/` });
  edge.advance(10);
  assert.equal((await edge.get('/', { method: 'HEAD' })).headers['x-cache'], 'MISS method');
  for (const headers of all) assert.equal(await ask(headers), 'new');
});

test('prerender-memory-cache#5: a redirect is stored as one, with its status, Location and body', async (t) => {
  const { edge } = await startSite(t, reply('moved', { ...FRESH, location: '/elsewhere' }, 302));
  for (const mark of ['MISS', 'HIT']) {
    const { status, reason, body, headers } = await edge.get('/');
    assert.deepEqual(
      [headers['x-cache'], status, reason, headers['location'], body],
      [mark, 302, 'Found', '/elsewhere', 'moved'],
    );
  }
});

test('trailers are neither passed on as fields nor stored', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    const head =
      'HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTrailer: X-End, Set-Cookie\r\nTransfer-Encoding: chunked\r\n\r\n';
    socket.write(`${head}2\r\nhi\r\n0\r\nX-End: 1\r\nSet-Cookie: a=b\r\n\r\n`);
  });
  const edge = await startTestEdge(t, [origin.port]);
  for (const mark of ['MISS', 'HIT']) {
    const { body, headers } = await edge.get('/');
    assert.deepEqual([headers['x-cache'], body], [mark, 'hi']);
    assert.deepEqual([headers['trailer'], headers['x-end'], headers['set-cookie']], [undefined, undefined, undefined]);
  }
});

test("a body that breaks off does not look complete to HTTP/1.0, where the connection's end delimits it", async (t) => {
  for (const caching of ['max-age=60', 'no-store']) {
    let breakOff = () => {};
    const origin = await startRawOrigin(t, (socket) => {
      const chunk = 'x'.repeat(50_000);
      const head = `HTTP/1.1 200 OK\r\nCache-Control: ${caching}\r\nTransfer-Encoding: chunked\r\n\r\n`;
      socket.write(`${head}${chunk.length.toString(16)}\r\n${chunk}\r\n`);
      breakOff = () => void socket.end();
    });
    const edge = await startTestEdge(t, [origin.port]);
    const socket = connect(edge.port, '127.0.0.1');
    socket.write(`GET / HTTP/1.0\r\nHost: ${SITE_HOST}\r\n\r\n`);
    let bytes = 0;
    const read = async () => {
      for await (const chunk of socket) {
        bytes += chunk.length;
        breakOff(); // the answer has begun
      }
    };
    await assert.rejects(read, /ECONNRESET/);
    assert.ok(bytes > 0);
    await eventually('logged', () => edge.log[0]?.result === 'TCP_MISS/502');
  }
});
