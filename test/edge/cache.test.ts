/** The cache as viewers see it: a real edge between a real client and a scripted origin. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loopback, NO_ORIGINS, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { FRESH, notModified, reply, startOrigin } from '../support/edge/origin.ts';
import { client, gets, hit, miss, origin, pass, type Step, scenario } from '../support/edge/scenario.ts';
import { startSite } from '../support/edge/site.ts';

describe('hits and misses', () => {
  test('the first request is a MISS, the second a HIT with Age, and the origin is asked once', (t) =>
    scenario(t, [
      miss('GET /a?b=1', reply('hello', { ...FRESH, 'content-type': 'text/plain', etag: '"1"' }), 'hello'),
      pass(5_000),
      hit('GET /a?b=1', 'hello', { age: /^[56]$/, via: '1.1 causeway', 'content-type': 'text/plain' }),
    ]));

  test('a miss after a change of origins goes to the new one, and stored objects are still served', async (t) => {
    const { edge, origin: old } = await startSite(t, reply('old', FRESH));
    const next = await startOrigin(t, reply('new', FRESH));
    await edge.get('/stored');
    edge.put({ name: SITE_HOST, origins: { ...NO_ORIGINS, primary: loopback([next.port]) } });
    assert.equal((await edge.get('/stored')).body, 'old');
    assert.equal((await edge.get('/other')).body, 'new');
    assert.deepEqual([old.requests.length, next.requests.length], [1, 1]);
  });

  test('spellings of one path share an object; other queries and other cases of the path do not', (t) =>
    scenario(t, [
      miss('GET /%61%2fb', reply('x', FRESH)), // as it is written
      hit('GET /a%2Fb'),
      ...['/a/b', '/A%2Fb', '/a%2Fb?', '/a%2Fb?x', '//a%2Fb'].map((other) => miss(`GET ${other}`, reply('x', FRESH))),
    ]));

  test('the spelling of the host does not matter: case, port and one trailing dot', (t) =>
    scenario(t, [
      miss('GET /', reply('x', FRESH), 'x', { host: SITE_HOST }),
      ...['WWW.Example.COM', `${SITE_HOST}:1234`, `${SITE_HOST}.`].flatMap((host) => [
        client('GET /', {}, { host }),
        gets(200, 'HIT'),
      ]),
    ]));

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

  test('a path with dot segments bypasses the cache: an origin may read it differently from the key', (t) =>
    scenario(t, [
      ...['/x/../admin', '/x/%2e%2E/admin'].flatMap((path) => [
        client(`GET ${path}`),
        origin(`GET ${path}`, reply('x', FRESH)),
        gets(200, 'BYPASS dotSegments'),
      ]),
      miss('GET /admin', reply('x', FRESH)),
    ]));
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
    test(`${reason}: every request reaches the origin`, (t) =>
      scenario(
        t,
        ['1', '2'].flatMap((count) => {
          const cookie = reason === 'setCookie' ? { 'set-cookie': `s=${count}` } : {};
          return [
            client('GET /'),
            origin('GET /', reply(`answer ${count}`, { ...headers, ...cookie }, status)),
            gets(status, `MISS ${reason}`, `answer ${count}`, cookie),
          ];
        }),
      ));
  }

  test('a response to an authenticated request is shared only if it allows it', (t) => {
    const authorized = (path: string, cacheControl: string, xCache: string) => [
      client(`GET ${path}`, { Authorization: 'Basic x' }),
      origin(`GET ${path}`, reply('secret', { 'cache-control': cacheControl })),
      gets(200, xCache),
    ];
    return scenario(t, [
      ...authorized('/', 'max-age=60', 'MISS authorization'),
      miss('GET /', reply('secret', FRESH)),
      ...authorized('/b', 'public, max-age=60', 'MISS'),
      hit('GET /b'),
    ]);
  });

  test('an object over the limit passes through whole and is not stored, with a Content-Length or without', async (t) => {
    const big = Buffer.alloc(3_000_000, 'x');
    const { edge, origin } = await startSite(
      t,
      (request, response) => {
        if (request.target === '/announced') return reply(big, FRESH)(request, response);
        response.writeHead(200, FRESH);
        response.end(big);
      },
      { cacheBytes: 4_000_000 },
    );
    for (const path of ['/announced', '/chunked']) {
      for (let i = 0; i < 2; i++) {
        const received = await edge.get(path);
        assert.equal(received.body.length, big.length);
        assert.match(received.headers['x-cache'] ?? '', /^MISS/);
      }
    }
    assert.equal(origin.requests.length, 4);
  });

  test('hop-by-hop fields are neither passed on nor stored', (t) => {
    const ofOneHop = { connection: 'x-hop, keep-alive', 'x-hop': '1', 'proxy-authenticate': 'y' };
    const passedOn = { 'x-hop': undefined, 'proxy-authenticate': undefined, 'x-end': '2' };
    return scenario(t, [
      client('GET /'),
      origin('GET /', reply('x', { ...FRESH, ...ofOneHop, 'x-end': '2', 'x-cache': 'HIT from origin' })),
      gets(200, 'MISS', 'x', passedOn),
      hit('GET /', 'x', passedOn),
    ]);
  });
});

describe('Vary', () => {
  type Row = readonly [
    what: string,
    vary: string,
    requests: readonly (readonly [value: string | undefined, mark: 'MISS' | 'HIT'])[],
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
    test(`Vary: ${what}`, (t) =>
      scenario(
        t,
        requests.flatMap(([value, mark]): Step[] => {
          const [body, seen] = vary === 'X-A' ? [`for ${value}`, { 'x-a': value }] : [undefined, {}];
          return [
            client('GET /', value === undefined ? {} : { [vary]: value }),
            ...(mark === 'HIT' ? [] : [origin('GET /', reply(body ?? 'x', { ...FRESH, vary }), seen)]),
            gets(200, mark, body, { vary }),
          ];
        }),
      ));
  }

  test('a variant that the origin confirms by its tag is used for a new value too', (t) => {
    const fields = { ...FRESH, vary: 'X-A', etag: '"same"' };
    return scenario(t, [
      client('GET /', { 'X-A': '1' }),
      origin('GET /', reply('body', fields)),
      gets(200, 'MISS'),
      client('GET /', { 'X-A': '2' }),
      origin('GET /', notModified(fields), { 'if-none-match': '"same"' }),
      gets(200, 'REVALIDATED', 'body'),
      client('GET /', { 'X-A': '2' }),
      gets(200, 'HIT'),
    ]);
  });
});

describe('HEAD', () => {
  test('a HEAD stores nothing; a GET after it has its body; later HEADs are answered from the GET', (t) =>
    scenario(t, [
      client('HEAD /'),
      origin('HEAD /', reply('hello', FRESH)),
      gets(200, 'MISS method', '', { 'content-length': '5' }),
      miss('GET /', reply('hello', FRESH), 'hello'),
      hit('HEAD /', '', { 'content-length': '5' }),
    ]));

  test('a HEAD of a stale GET leaves it in the cache, and drops it if it has changed', (t) =>
    scenario(t, [
      miss('GET /', reply('hello', { 'cache-control': 'max-age=10', etag: '"1"' })),
      pass(20_000),
      client('HEAD /'),
      origin('HEAD /', reply('changed!', { ...FRESH, etag: '"2"' })),
      gets(200, 'MISS method', '', { 'content-length': '8' }),
      miss('GET /', reply('changed!', { ...FRESH, etag: '"2"' }), 'changed!'),
    ]));
});
