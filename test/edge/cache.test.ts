/** The cache as viewers see it: a real edge between a real client and a scripted origin. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loopback, NO_ORIGINS, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';

const FRESH = { 'cache-control': 'max-age=60' };

describe('hits and misses', () => {
  test('the first request is a MISS, the second a HIT with Age, and the origin is asked once', async (t) => {
    const origin = await startOrigin(t, reply('hello', { ...FRESH, 'content-type': 'text/plain', etag: '"1"' }));
    const edge = await startTestEdge(t, [origin.port]);
    const miss = await edge.get('/a?b=1');
    edge.advance(5_000);
    const hit = await edge.get('/a?b=1');
    assert.deepEqual(
      [miss.status, miss.body, miss.headers['x-cache'], miss.headers['age']],
      [200, 'hello', 'MISS', undefined],
    );
    assert.deepEqual([hit.status, hit.body, hit.headers['x-cache']], [200, 'hello', 'HIT']);
    assert.match(hit.headers['age'] ?? '', /^[56]$/);
    assert.equal(hit.headers['via'], '1.1 causeway');
    assert.equal(hit.headers['content-type'], 'text/plain');
    assert.deepEqual(
      origin.requests.map(({ target }) => target),
      ['/a?b=1'],
    );
  });

  test('a miss after a change of origins goes to the new one, and stored objects are still served', async (t) => {
    const old = await startOrigin(t, reply('old', FRESH));
    const next = await startOrigin(t, reply('new', FRESH));
    const edge = await startTestEdge(t, [old.port]);
    await edge.get('/stored');
    edge.put({ name: SITE_HOST, origins: { ...NO_ORIGINS, primary: loopback([next.port]) } });
    assert.equal((await edge.get('/stored')).body, 'old');
    assert.equal((await edge.get('/other')).body, 'new');
    assert.deepEqual([old.requests.length, next.requests.length], [1, 1]);
  });

  test('spellings of one path share an object; other queries and other cases of the path do not', async (t) => {
    const origin = await startOrigin(t, (request, response) => reply(request.target, FRESH)(request, response));
    const edge = await startTestEdge(t, [origin.port]);
    assert.equal((await edge.get('/%61%2fb')).body, '/%61%2fb'); // the original goes to the origin
    assert.equal((await edge.get('/a%2Fb')).headers['x-cache'], 'HIT');
    for (const other of ['/a/b', '/A%2Fb', '/a%2Fb?', '/a%2Fb?x', '//a%2Fb']) {
      assert.equal((await edge.get(other)).headers['x-cache'], 'MISS', other);
    }
  });

  test('the spelling of the host does not matter: case, port and one trailing dot', async (t) => {
    const origin = await startOrigin(t, reply('x', FRESH));
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/');
    for (const host of ['WWW.Example.COM', `${SITE_HOST}:1234`, `${SITE_HOST}.`]) {
      assert.equal((await edge.get('/', { host })).headers['x-cache'], 'HIT', host);
    }
    assert.equal(origin.requests[0]?.headers['host'], SITE_HOST);
  });

  test("hosts of one wildcard site have separate objects, and the origin gets the request's Host", async (t) => {
    const origin = await startOrigin(t, (request, response) =>
      reply(request.headers['host'] ?? '', FRESH)(request, response),
    );
    const edge = await startTestEdge(t);
    edge.put({ name: '*.example.org', origins: { ...NO_ORIGINS, primary: loopback([origin.port]) } });
    for (const host of ['a.example.org', 'b.c.example.org', 'a.example.org']) {
      assert.equal((await edge.get('/', { host })).body, host);
    }
    assert.equal(origin.requests.length, 2);
    assert.equal((await edge.get('/', { host: 'example.org' })).status, 403);
  });

  test('a path with dot segments bypasses the cache: an origin may read it differently from the key', async (t) => {
    const origin = await startOrigin(t, (request, response) => reply(request.target, FRESH)(request, response));
    const edge = await startTestEdge(t, [origin.port]);
    assert.equal((await edge.get('/x/../admin')).headers['x-cache'], 'BYPASS dotSegments');
    assert.equal((await edge.get('/x/%2e%2E/admin')).headers['x-cache'], 'BYPASS dotSegments');
    assert.equal((await edge.get('/admin')).body, '/admin');
  });
});

describe('uncacheable responses', () => {
  const rows: readonly (readonly [reason: string, headers: Record<string, string>, status?: number])[] = [
    ['noStore', { 'cache-control': 'no-store' }],
    ['private', { 'cache-control': 'private, max-age=60' }],
    ['setCookie', { 'cache-control': 'public, max-age=60', 'set-cookie': 'session=1' }],
    ['varyAny', { ...FRESH, vary: 'Accept, *' }],
    ['noReuse', {}],
    ['notCacheable', {}, 403],
  ];
  for (const [reason, headers, status = 200] of rows) {
    test(`${reason}: every request reaches the origin`, async (t) => {
      let count = 0;
      const origin = await startOrigin(t, (request, response) => {
        count++;
        reply(
          `answer ${count}`,
          { ...headers, ...('set-cookie' in headers ? { 'set-cookie': `s=${count}` } : {}) },
          status,
        )(request, response);
      });
      const edge = await startTestEdge(t, [origin.port]);
      for (const expected of ['answer 1', 'answer 2']) {
        const received = await edge.get('/');
        assert.deepEqual(
          [received.status, received.body, received.headers['x-cache']],
          [status, expected, `MISS ${reason}`],
        );
        if (reason === 'setCookie') assert.equal(received.headers['set-cookie'], `s=${count}`);
      }
    });
  }

  test('a response to an authenticated request is shared only if it allows it', async (t) => {
    const origin = await startOrigin(t, reply('secret', FRESH));
    const edge = await startTestEdge(t, [origin.port]);
    const headers = ['Authorization', 'Basic x'];
    assert.equal((await edge.get('/', { headers })).headers['x-cache'], 'MISS authorization');
    assert.equal((await edge.get('/')).headers['x-cache'], 'MISS');
    origin.answer(reply('shared', { 'cache-control': 'public, max-age=60' }));
    assert.equal((await edge.get('/b', { headers })).headers['x-cache'], 'MISS');
    assert.equal((await edge.get('/b')).headers['x-cache'], 'HIT');
  });

  test('an object over the limit passes through whole and is not stored, with a Content-Length or without', async (t) => {
    const big = Buffer.alloc(3_000_000, 'x');
    const origin = await startOrigin(t, (request, response) => {
      if (request.target === '/announced') return reply(big, FRESH)(request, response);
      response.writeHead(200, FRESH);
      response.end(big);
    });
    const edge = await startTestEdge(t, [origin.port], { cacheBytes: 4_000_000 });
    for (const path of ['/announced', '/chunked']) {
      for (let i = 0; i < 2; i++) {
        const received = await edge.get(path);
        assert.equal(received.body.length, big.length);
        assert.match(received.headers['x-cache'] ?? '', /^MISS/);
      }
    }
    assert.equal(origin.requests.length, 4);
  });

  test('hop-by-hop fields are neither passed on nor stored', async (t) => {
    const origin = await startOrigin(
      t,
      reply('x', {
        ...FRESH,
        connection: 'x-hop, keep-alive',
        'x-hop': '1',
        'proxy-authenticate': 'y',
        'x-end': '2',
        'x-cache': 'HIT from origin',
      }),
    );
    const edge = await startTestEdge(t, [origin.port]);
    for (const mark of ['MISS', 'HIT']) {
      const { headers } = await edge.get('/');
      assert.deepEqual(
        [headers['x-hop'], headers['proxy-authenticate'], headers['x-end'], headers['x-cache']],
        [undefined, undefined, '2', mark],
      );
    }
  });
});

describe('Vary', () => {
  type Row = readonly [
    what: string,
    vary: string,
    requests: readonly (readonly [value: string | undefined, mark: string])[],
  ];
  const rows: readonly Row[] = [
    [
      'each value is its own variant',
      'X-A',
      [
        ['1', 'MISS'],
        ['2', 'MISS'],
        ['1', 'HIT'],
        ['2', 'HIT'],
      ],
    ],
    [
      'absent is not empty',
      'X-A',
      [
        [undefined, 'MISS'],
        ['', 'MISS'],
        [undefined, 'HIT'],
        ['', 'HIT'],
      ],
    ],
    [
      'codings in any order are one',
      'Accept-Encoding',
      [
        ['gzip, br', 'MISS'],
        ['br,gzip', 'HIT'],
        ['gzip', 'MISS'],
        [undefined, 'MISS'],
      ],
    ],
    [
      'identity first, gzip second',
      'Accept-Encoding',
      [
        [undefined, 'MISS'],
        ['gzip', 'MISS'],
        [undefined, 'HIT'],
      ],
    ],
  ];
  for (const [what, vary, requests] of rows) {
    test(`Vary: ${what}`, async (t) => {
      const field = vary === 'X-A' ? 'x-a' : 'accept-encoding';
      const origin = await startOrigin(t, (request, response) => {
        reply(`for ${request.headers[field]}`, { ...FRESH, vary })(request, response);
      });
      const edge = await startTestEdge(t, [origin.port]);
      for (const [value, mark] of requests) {
        const received = await edge.get('/', { headers: value === undefined ? [] : [field, value] });
        assert.equal(received.headers['x-cache'], mark, `${value}`);
        if (field === 'x-a') assert.equal(received.body, `for ${value}`);
        assert.equal(received.headers['vary'], vary);
      }
    });
  }

  test('a variant that the origin confirms by its tag is used for a new value too', async (t) => {
    const origin = await startOrigin(t, (request, response) => {
      if (request.headers['if-none-match'] !== '"same"')
        return reply('body', { ...FRESH, vary: 'X-A', etag: '"same"' })(request, response);
      response.writeHead(304, { ...FRESH, vary: 'X-A', etag: '"same"' }).end();
    });
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/', { headers: ['X-A', '1'] });
    const second = await edge.get('/', { headers: ['X-A', '2'] });
    assert.deepEqual([second.status, second.body, second.headers['x-cache']], [200, 'body', 'REVALIDATED']);
    assert.equal((await edge.get('/', { headers: ['X-A', '2'] })).headers['x-cache'], 'HIT');
  });
});

describe('HEAD', () => {
  test('a HEAD stores nothing; a GET after it has its body; later HEADs are answered from the GET', async (t) => {
    const origin = await startOrigin(t, reply('hello', FRESH));
    const edge = await startTestEdge(t, [origin.port]);
    const head = await edge.get('/', { method: 'HEAD' });
    assert.deepEqual([head.status, head.body, head.headers['content-length']], [200, '', '5']);
    assert.equal((await edge.get('/')).body, 'hello');
    const stored = await edge.get('/', { method: 'HEAD' });
    assert.deepEqual([stored.headers['x-cache'], stored.headers['content-length'], stored.body], ['HIT', '5', '']);
    assert.deepEqual(
      origin.requests.map(({ method }) => method),
      ['HEAD', 'GET'],
    );
  });

  test('a HEAD of a stale GET leaves it in the cache, and drops it if it has changed', async (t) => {
    const origin = await startOrigin(t, reply('hello', { 'cache-control': 'max-age=10', etag: '"1"' }));
    const edge = await startTestEdge(t, [origin.port]);
    await edge.get('/');
    edge.advance(20_000);
    origin.answer(reply('changed!', { ...FRESH, etag: '"2"' }));
    assert.equal((await edge.get('/', { method: 'HEAD' })).headers['content-length'], '8');
    const after = await edge.get('/');
    assert.deepEqual([after.body, after.headers['x-cache']], ['changed!', 'MISS']);
  });
});
