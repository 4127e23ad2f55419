/** Requests as bytes: what is refused, what of a good one reaches the origin, and several on one connection. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connectRaw, fetchFrom, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin, startRawOrigin } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;

describe('requests that are refused', () => {
  const get = 'GET / HTTP/1.1\r\n';
  const post = 'POST / HTTP/1.1\r\n';
  const rows: readonly (readonly [what: string, bytes: string, status: number])[] = [
    [
      'length and chunks together',
      `${post}${HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'the same in the other order',
      `${post}${HOST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['two lengths', `${post}${HOST}Content-Length: 1\r\nContent-Length: 1\r\n\r\nx`, 400],
    ['a list of lengths', `${post}${HOST}Content-Length: 1, 1\r\n\r\nx`, 400],
    ['a signed length', `${post}${HOST}Content-Length: +1\r\n\r\nx`, 400],
    ['a negative length', `${post}${HOST}Content-Length: -1\r\n\r\nx`, 400],
    ['a hexadecimal length', `${post}${HOST}Content-Length: 0x1\r\n\r\nx`, 400],
    ['an empty length', `${post}${HOST}Content-Length: \r\n\r\n`, 400],
    ['a coding that is not chunked', `${post}${HOST}Transfer-Encoding: gzip\r\n\r\n`, 400],
    ['chunked, then another', `${post}${HOST}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`, 400],
    ['chunked and a comma', `${post}${HOST}Transfer-Encoding: chunked,\r\n\r\n0\r\n\r\n`, 400],
    ['chunked in quotes', `${post}${HOST}Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n`, 400],
    ['chunked with a vertical tab', `${post}${HOST}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`, 400],
    ['chunked and a tab', `${post}${HOST}Transfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n`, 400],
    ['chunked twice', `${post}${HOST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ['chunks to HTTP/1.0', `POST / HTTP/1.0\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ['no Host', `${get}\r\n`, 400],
    ['an empty Host', `${get}Host:\r\n\r\n`, 400],
    ['two Hosts', `${get}${HOST}${HOST}\r\n`, 400],
    ['a list of Hosts', `${get}Host: ${SITE_HOST}, x\r\n\r\n`, 400],
    ['a Host with user information', `${get}Host: a@${SITE_HOST}\r\n\r\n`, 400],
    ['a Host with a path', `${get}Host: ${SITE_HOST}/x\r\n\r\n`, 400],
    ['an absolute target for another host', `GET http://other.example/ HTTP/1.1\r\n${HOST}\r\n`, 400],
    ['an absolute target of another scheme', `GET https://${SITE_HOST}/ HTTP/1.1\r\n${HOST}\r\n`, 400],
    ['a folded line', `${get}${HOST}X: a\r\n b\r\n\r\n`, 400],
    ['a folded first line', `${get} X: a\r\n${HOST}\r\n`, 400],
    ['a blank before the colon', `${get}${HOST}X : a\r\n\r\n`, 400],
    ['a blank before the colon of Host', `${get}Host : ${SITE_HOST}\r\n\r\n`, 400],
    ['a line end without CR', `${get}Host: ${SITE_HOST}\nX: a\r\n\r\n`, 400],
    ['a CR inside a value', `${get}${HOST}X: a\rb\r\n\r\n`, 400],
    ['a NUL in a value', `${get}${HOST}X: a\0b\r\n\r\n`, 400],
    ['a name that is no token', `${get}${HOST}X(: a\r\n\r\n`, 400],
    ['a fragment', `GET /#x HTTP/1.1\r\n${HOST}\r\n`, 400],
    ['a broken percent-encoding', `GET /%zz HTTP/1.1\r\n${HOST}\r\n`, 400],
    ['a blank in the target', `GET /a b HTTP/1.1\r\n${HOST}\r\n`, 400],
    ['a target without /', `GET a HTTP/1.1\r\n${HOST}\r\n`, 400],
    ['* for GET', `GET * HTTP/1.1\r\n${HOST}\r\n`, 400],
    ['* for OPTIONS without Host', `OPTIONS * HTTP/1.1\r\n\r\n`, 400],
    ['* and more for OPTIONS', `OPTIONS *a HTTP/1.1\r\n${HOST}\r\n`, 400],
    [
      'an expectation beside the known one',
      `${post}${HOST}Expect: 100-continue, gold\r\nContent-Length: 1\r\n\r\nx`,
      417,
    ],
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['TLS on the plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['HTTP/2 without having agreed to it', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['HTTP/2 in words', `GET / HTTP/2.0\r\n${HOST}\r\n`, 505],
    ['HTTP/0.9 in words', `GET / HTTP/0.9\r\n${HOST}\r\n`, 505],
    ['an unknown version', `GET / HTTP/3.7\r\n${HOST}\r\n`, 505],
    ['another minor version', `GET / HTTP/1.2\r\n${HOST}\r\n`, 505],
    ...[
      '1',
      '1.',
      '.1',
      '',
      '1.x',
      'x.1',
      '1.10',
      '01.1',
      '1.01',
      '11.1',
      '-1.1',
      ' 1.1',
      '1,1',
      '1.1 ',
      '1.1x',
      '3.00',
      '2.01',
      '3.0x',
    ].map((version) => [`a version that is none: ${version}`, `GET / HTTP/${version}\r\n${HOST}\r\n`, 400] as const),
    ...['RTSP/1.0', 'RTSP/1.1', 'RTSP/2.0', 'ICE/1.0', 'http/1.1', 'HTTPS/1.1', 'HTTP', 'H'].map(
      (version) => [`another protocol: ${version}`, `GET / ${version}\r\n${HOST}\r\n`, 400] as const,
    ),
    ['another protocol, with a method of its own', `DESCRIBE / RTSP/1.0\r\n${HOST}\r\n`, 400],
    ['another protocol, with a method of ours', `OPTIONS * RTSP/1.0\r\n${HOST}\r\n`, 400],
    ['a source of a stream', `SOURCE / ICE/1.0\r\n${HOST}\r\n`, 400],
    ['TRACE', `TRACE / HTTP/1.1\r\n${HOST}\r\n`, 405],
    ['CONNECT', `CONNECT ${SITE_HOST}:443 HTTP/1.1\r\n${HOST}\r\n`, 405],
    ['a target of 8 KiB and one', `GET /${'x'.repeat(8192)} HTTP/1.1\r\n${HOST}\r\n`, 414],
    ['a target of 64 KiB', `GET /${'x'.repeat(64 * 1024)} HTTP/1.1\r\n${HOST}\r\n`, 414],
    ['another expectation', `${post}${HOST}Expect: gold\r\nContent-Length: 1\r\n\r\nx`, 417],
    ['a header section of 33 KiB', `${get}${HOST}X: ${'x'.repeat(33 * 1024)}\r\n\r\n`, 431],
    ['more codings than chunked', `${post}${HOST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 501],
    ['a request that has been here', `${get}${HOST}CDN-Loop: causeway\r\n\r\n`, 508],
  ];
  test('a refused request has its status, one log line, and no contact to an origin', async (t) => {
    const { edge, origin } = await startSite(t, reply('reached'));
    for (const [what, bytes, status] of rows) {
      edge.log.length = 0;
      const client = connectRaw(edge.port, bytes);
      await eventually(what, () => client.text().includes('\r\n\r\n'));
      const text = client.text();
      assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `), what);
      assert.match(text, /\r\nX-Cache: ERROR \w+\r\n/i, what);
      if (status === 400 || status === 431 || status === 505) assert.match(text, /\r\nConnection: close\r\n/i, what);
      assert.equal(text.match(/HTTP\/1\.1/g)?.length, 1, what);
      await eventually(what, () => edge.log.length === 1);
      assert.equal(edge.log[0]?.result, `NONE/${status}`, what);
      client.socket.destroy();
    }
    assert.equal(origin.requests.length, 0);
    // A blank after a value belongs to the line, not to the value.
    const chunks = `${post}${HOST}Transfer-Encoding: chunked \r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
    assert.match(await connectRaw(edge.port, chunks).closed, /reached$/);
    assert.equal(origin.requests[0]?.body, 'abc');
  });

  test('a bad request ends its connection: bytes after it are not read', async (t) => {
    const { edge, origin } = await startSite(t, reply('reached'));
    const text = await connectRaw(edge.port, `GET / HTTP/1.1\r\n${HOST}${HOST}\r\nGET /2 HTTP/1.1\r\n${HOST}\r\n`)
      .closed;
    assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1);
    assert.equal(origin.requests.length, 0);
  });

  test('a bad request is answered after the good ones before it', async (t) => {
    const { edge } = await startSite(t, (_request, response) => void setImmediate(() => response.end('good')));
    const text = await connectRaw(edge.port, `GET /1 HTTP/1.1\r\n${HOST}\r\nGET / HTTP/1.1\r\nbad line\r\n\r\n`).closed;
    assert.match(text, /^HTTP\/1\.1 200 [\s\S]*good[\s\S]*HTTP\/1\.1 400 /);
  });

  test('a header section that does not arrive in time is answered 408', async (t) => {
    const edge = await startTestEdge(t, [1], { limits: { requestHeaderMs: 500 } });
    const text = await connectRaw(edge.port, `GET / HTTP/1.1\r\n${HOST}X-Slow`).closed;
    assert.match(text, /^HTTP\/1\.1 408 [\s\S]*ERROR requestTimeout/);
  });
});

describe('domains that do not serve', () => {
  for (const [state, status] of [
    ['closed', 403],
    ['rejected', 403],
    ['disabled', 403],
    ['accountLimit', 503],
  ] as const) {
    test(`a domain in the state ${state} is ${status} without contact to the origin, even for a stored object`, async (t) => {
      const { edge, origin } = await startSite(t, reply('x', { 'cache-control': 'max-age=60' }));
      await edge.get('/');
      edge.put({ name: SITE_HOST, state });
      const received = await edge.get('/');
      assert.deepEqual([received.status, received.headers['x-cache']], [status, `DENIED ${state}`]);
      assert.equal((await edge.get('/', { method: 'POST', body: 'x' })).status, status);
      assert.equal(origin.requests.length, 1);
      assert.deepEqual([edge.log[1]?.host, edge.log[1]?.result], [SITE_HOST, `TCP_DENIED/${status}`]);
      edge.put({ name: SITE_HOST, state: 'open' });
      assert.equal((await edge.get('/')).headers['x-cache'], 'HIT');
    });
  }

  test('an unknown host is answered 403', async (t) => {
    const edge = await startTestEdge(t, [1]);
    const received = await edge.get('/', { host: 'unknown.example' });
    assert.deepEqual([received.status, received.headers['x-cache']], [403, 'DENIED unknownHost']);
  });
});

describe('requests to the origin', () => {
  test("the origin gets the target as written, end-to-end fields, and the edge's fields in place of the client's", async (t) => {
    const origin = await startRawOrigin(t, (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
    const edge = await startTestEdge(t, [origin.port]);
    const headers = [
      'X-Custom',
      'a',
      'x-custom',
      'b',
      'Cookie',
      'c=1',
      'Connection',
      'x-hop',
      'X-Hop',
      '1',
      'X-Forwarded-For',
      '6.6.6.6',
      'X-Forwarded-Host',
      'evil.example',
      'X-Original-URL',
      '/admin',
      'TE',
      'trailers',
      'Upgrade',
      'websocket',
    ];
    await edge.get('/%7Ea//b?x=1&y', { headers });
    const [line, ...fields] = (origin.heads[0] ?? '').split('\r\n');
    assert.equal(line, 'GET /%7Ea//b?x=1&y HTTP/1.1');
    assert.deepEqual(
      fields.filter((field) => !/^connection: /i.test(field)),
      [
        `Host: ${SITE_HOST}`,
        'X-Custom: a',
        'x-custom: b',
        'Cookie: c=1',
        'X-Forwarded-For: 127.0.0.1',
        'X-Real-IP: 127.0.0.1',
        'X-Forwarded-Proto: http',
        `X-Forwarded-Host: ${SITE_HOST}`,
        'Via: 1.1 causeway',
        'CDN-Loop: causeway',
      ],
    );
  });

  test('an origin that reflects X-Forwarded-Host or the port of Host cannot be used to poison the cache', async (t) => {
    const { edge } = await startSite(t, (request, response) => {
      reply(`${request.headers['x-forwarded-host']} ${request.headers['host']}`, { 'cache-control': 'max-age=60' })(
        request,
        response,
      );
    });
    await edge.get('/', {
      host: `${SITE_HOST}:666`,
      headers: ['X-Forwarded-Host', 'evil.example', 'Forwarded', 'host=evil.example'],
    });
    assert.equal((await edge.get('/')).body, `${SITE_HOST} ${SITE_HOST}`);
  });

  test('an origin that reads underscores as hyphens, as CGI and WSGI do, cannot be used to poison the cache', async (t) => {
    const { edge } = await startSite(t, (request, response) => {
      const environment = new Map(
        Object.entries(request.headers).map(([name, value]) => [name.replaceAll('-', '_').toUpperCase(), value]),
      );
      const read = ['X_FORWARDED_HOST', 'X_FORWARDED_SCHEME', 'X_HTTP_METHOD_OVERRIDE', 'X_REAL_IP', 'PROXY'];
      const body = read.map((name) => environment.get(name) ?? '-').join(' ');
      reply(body, { 'cache-control': 'max-age=60' })(request, response);
    });
    const claims = ['X_Forwarded_Host', 'X-Forwarded_Scheme', 'X_HTTP_METHOD_OVERRIDE', 'X_Real_IP', 'Proxy'];
    await edge.get('/', { headers: claims.flatMap((name) => [name, 'evil']) });
    assert.equal((await edge.get('/')).body, `${SITE_HOST} - - 127.0.0.1 -`);
  });

  test("the site's own Host setting replaces the Host", async (t) => {
    const origin = await startOrigin(t, reply('x'));
    const edge = await startTestEdge(t, {
      primary: [{ host: '127.0.0.1', port: origin.port }],
      hostHeader: 'o.example:81',
    });
    await edge.get('/');
    assert.equal(origin.requests[0]?.headers['host'], 'o.example:81');
  });

  test('a chunked body stays in its request, whatever the method (CVE-2026-29057 of another proxy)', async (t) => {
    const { edge, origin } = await startSite(t, reply('ok'));
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
    for (const method of ['DELETE', 'OPTIONS', 'PUT', 'GET', 'QUERY']) {
      const chunk = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
      const text = await connectRaw(
        edge.port,
        `${method} / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunk}`,
      ).closed;
      assert.match(text, /^HTTP\/1\.1 200 /, method);
      const seen = origin.requests.at(-1);
      assert.deepEqual([seen?.method, seen?.target, seen?.body], [method, '/', smuggled]);
    }
    assert.equal(origin.requests.length, 5);
  });

  test('a GET with a body is passed on with it, and bypasses the cache', async (t) => {
    const { edge } = await startSite(t, (request, response) =>
      reply(`got ${request.body}`, { 'cache-control': 'max-age=60' })(request, response),
    );
    for (const body of ['1', '2']) {
      const received = await edge.get('/', { body });
      assert.deepEqual([received.body, received.headers['x-cache']], [`got ${body}`, 'BYPASS requestBody']);
    }
    assert.equal((await edge.get('/')).headers['x-cache'], 'MISS');
  });
});

describe('every byte', () => {
  const places = {
    'a value': (byte: string) => `GET / HTTP/1.1\r\n${HOST}X: a${byte}b\r\nConnection: close\r\n\r\n`,
    'a name': (byte: string) => `GET / HTTP/1.1\r\n${HOST}a${byte}b: x\r\nConnection: close\r\n\r\n`,
    'a path': (byte: string) => `GET /a${byte}b HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`,
    'a query': (byte: string) => `GET /?a${byte}b HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`,
  };
  for (const [place, request] of Object.entries(places)) {
    test(`every byte in ${place} is passed on or refused, and never a fault of the edge`, async (t) => {
      const { edge } = await startSite(t, reply('x'));
      for (let code = 0; code < 256; code++) {
        const client = connectRaw(edge.port, request(String.fromCharCode(code)));
        await eventually(`byte ${code}`, () => client.text().includes('\r\n\r\n'));
        assert.match(client.text(), /^HTTP\/1\.1 (200|400) /, `byte ${code}`);
        client.socket.destroy();
      }
    });
  }
});

describe('client connections', () => {
  test('pipelined requests are answered in their order', async (t) => {
    const { edge } = await startSite(t, (request, response) => {
      // The first answer comes last.
      const isFirst = request.target === '/0';
      setTimeout(() => response.end(`body of ${request.target}`), isFirst ? 100 : 0);
    });
    const bytes = [0, 1, 2, 3]
      .map((i) => `GET /${i} HTTP/1.1\r\n${HOST}${i === 3 ? 'Connection: close\r\n' : ''}\r\n`)
      .join('');
    const text = await connectRaw(edge.port, bytes).closed;
    assert.deepEqual(text.match(/body of \/\d/g), ['body of /0', 'body of /1', 'body of /2', 'body of /3']);
    await eventually('logged', () => edge.log.length === 4);
    assert.equal(
      edge.log.reduce((sum, fields) => sum + fields.responseBytes, 0),
      text.length,
    );
    const each = new Map(edge.log.map((fields) => [fields.target, fields.responseBytes]));
    assert.equal(each.get('/0'), each.get('/1')); // no answer counts another's bytes
  });

  test('a request may arrive byte by byte', async (t) => {
    const { edge, origin } = await startSite(t, reply('whole'));
    const client = connectRaw(edge.port);
    for (const byte of `POST / HTTP/1.1\r\n${HOST}Content-Length: 3\r\nConnection: close\r\n\r\nabc`) {
      client.socket.write(byte);
      await new Promise(setImmediate);
    }
    assert.match(await client.closed, /whole$/);
    assert.equal(origin.requests[0]?.body, 'abc');
  });

  test('HTTP/1.0 gets its answer without chunks, and the connection ends', async (t) => {
    const { edge, origin } = await startSite(t, (_request, response) => {
      response.write('a');
      response.end('b');
    });
    const text = await connectRaw(edge.port, `GET / HTTP/1.0\r\n${HOST}\r\n`).closed;
    assert.match(text, /^HTTP\/1\.1 200 [\s\S]*\r\n\r\nab$/);
    assert.equal(origin.requests[0]?.headers['via'], '1.0 causeway');
  });

  test('interim responses pass through on a miss, not on a hit, and not to HTTP/1.0', async (t) => {
    const origin = await startRawOrigin(t, (socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n');
      socket.write('HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 1\r\n\r\nx');
    });
    const edge = await startTestEdge(t, [origin.port]);
    assert.deepEqual((await edge.get('/')).interim, [103, 102]);
    assert.deepEqual((await edge.get('/')).interim, []);
    const text = await connectRaw(edge.port, `GET /old HTTP/1.0\r\n${HOST}\r\n`).closed;
    assert.match(text, /^HTTP\/1\.1 200 /);
  });

  test('a dual-stack listener answers IPv4, and shows the client as IPv4', needs('ipv6'), async (t) => {
    const { edge } = await startSite(t, reply('x'), { listen: { host: '::', port: 0 } });
    assert.equal((await fetchFrom(edge.port, '/')).status, 200);
    await eventually('logged', () => edge.log.length === 1);
    assert.equal(edge.log[0]?.client, '127.0.0.1');
  });
});
