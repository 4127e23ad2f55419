/** What an edge says of a request beforehand, against what `X-Cache` says of it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { SiteSpec } from '#sites/spec.ts';
import { loopback, NO_ORIGINS, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { type Answer, reply, startOrigin } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';

const REQUESTS = 500;
const LAST_MODIFIED = 'Mon, 02 Nov 2026 10:00:00 GMT';

/** What an object is follows from its path, so that every request of it gets the same. */
const answer: Answer = ({ target, headers }, response) => {
  response.sendDate = false; // the edge's clock is ahead of the origin's
  const path = target.replace(/\?.*/, '');
  const fields: Record<string, string> = path.includes('fresh') ? { 'cache-control': 'max-age=60' } : {};
  if (path.includes('short')) fields['cache-control'] = 'max-age=1';
  if (path.includes('later')) fields['cache-control'] = 'max-age=1, stale-while-revalidate=1000';
  if (path.includes('never')) fields['cache-control'] = 'no-store';
  if (path.includes('tag')) fields['etag'] = '"1"';
  if (path.includes('guess')) fields['last-modified'] = LAST_MODIFIED;
  if (path.includes('coded')) fields['content-encoding'] = 'gzip'; // whatever it was asked for
  if (path.includes('vary')) fields['vary'] = 'X-Kind';
  if (path.includes('tag') && headers['if-none-match'] === '"1"') response.writeHead(304, fields).end();
  else response.writeHead(200, fields).end('x'.repeat(2000));
};

const SITE = {
  name: SITE_HOST,
  ignoresQuery: true,
  access: {
    deniedAddresses: ['192.0.2.0/24'],
    referer: { mode: 'deny', allowsBlank: true, entries: ['evil.test'] },
    deniedUserAgents: ['bot'],
  },
  caching: {
    followsOrigin: true,
    prefixFirst: false,
    policies: [
      { match: 'prefix', content: '/private', priority: 9, isCached: false, lifetimeSeconds: 0 },
      { match: 'suffix', content: 'jpg', priority: 1, isCached: true, lifetimeSeconds: 60 },
      { match: 'regex', content: '/[0-9]+$', priority: 5, isCached: true, lifetimeSeconds: 1 },
    ],
  },
} as const;

const HOSTS = [
  SITE_HOST,
  SITE_HOST,
  SITE_HOST,
  SITE_HOST,
  'own.example.com',
  'sliced.example.com',
  'coded.example.com',
  'coded.example.com',
  'unknown.test',
];

const request = fc.record({
  host: fc.constantFrom(...HOSTS),
  method: fc.constantFrom('GET', 'GET', 'GET', 'GET', 'HEAD', 'POST', 'TRACE'),
  folder: fc.constantFrom('/', '/private/', '/a/', '/a/../'),
  name: fc.constantFrom(
    'fresh',
    'short',
    'later',
    'never',
    'tag',
    'guess',
    'fresh-vary',
    'short-tag',
    'coded-fresh',
    'coded-fresh',
    'coded-fresh',
    'x.jpg',
    '12',
    '%zz',
  ),
  query: fc.constantFrom('', '?a', '?b'),
  fields: fc.subarray(
    [
      ['Referer', 'http://evil.test/'],
      ['User-Agent', 'a bot'],
      ['X-Forwarded-For', '192.0.2.7'],
      ['X-Kind', '1'],
      ['If-None-Match', '"1"'],
      ['Range', 'bytes=0-9'],
      ['Cache-Control', 'only-if-cached'],
      ['If-Match', '"1"'],
      ['Accept-Encoding', 'gzip'],
      ['Accept-Encoding', 'identity'],
      ['Expect', 'something'],
    ] as const,
    { maxLength: 2 },
  ),
  pauseMs: fc.constantFrom(0, 0, 0, 800, 1500),
});

test(`${REQUESTS} requests are answered as explain predicted, as far as that did not depend on an origin`, async (t) => {
  const origin = await startOrigin(t, answer);
  const proxies = { trusted: ['127.0.0.0/8'], protocol: 'off' } as const;
  let now = Date.now(); // stands still, or something could become stale between the two
  const edge = await startTestEdge(t, [origin.port], { proxies, clock: () => now });
  edge.put(SITE);
  const origins = { ...NO_ORIGINS, primary: loopback([origin.port]) };
  edge.put({ name: 'own.example.com', origins, caching: { ...SITE.caching, followsOrigin: false } });
  edge.put({ name: 'sliced.example.com', origins, rangeBackSource: true });
  edge.put({ name: 'coded.example.com', origins, pageCompress: true });
  const foreseen = new Set<string>();
  // Many that ask for the same, or nothing is ever stored.
  for (const { host, method, folder, name, query, fields, pauseMs } of fc.sample(request, {
    numRuns: REQUESTS,
    seed: 4,
  })) {
    now += pauseMs;
    const target = folder + name + query;
    const own = fields.filter(([field]) => field !== 'X-Forwarded-For');
    const explained = await edge.edge.explain({
      method,
      scheme: 'http',
      host,
      target,
      headers: own.flat(),
      clientAddress: own.length < fields.length ? '192.0.2.7' : '127.0.0.1',
    });
    const { headers } = await edge.get(target, { method, host, headers: fields.flat() });
    const said = headers['x-cache'] ?? '';
    const what = `${method} ${host}${target} ${fields.join(' ')}: ${JSON.stringify(explained)}`;
    const word = said.replace(/ .*/, '');
    // Only the origin's answer tells that its coding is not one that the client reads.
    if (explained.asksOrigin && said === 'BYPASS contentCoding')
      assert.match(explained.xCache, /^(MISS|REVALIDATED|BYPASS contentCoding)$/);
    else if (!explained.asksOrigin || word === 'BYPASS') assert.equal(said, explained.xCache, what);
    else if (explained.xCache === 'REVALIDATED')
      assert.ok(word === 'REVALIDATED' || word === 'MISS', `${said}: ${what}`);
    else assert.equal(word, explained.xCache, what);
    if (said === explained.xCache) foreseen.add(said);
    if (word === 'STALE') await eventually('refreshed', () => isRefreshed(edge, host, target));
  }
  for (const word of [
    'HIT',
    'MISS',
    'STALE',
    'REVALIDATED',
    'BYPASS policy',
    'BYPASS noPolicy',
    'BYPASS contentCoding',
    'BYPASS dotSegments',
    'DENIED ip',
    'DENIED referer',
    'DENIED userAgent',
    'DENIED unknownHost',
    'ERROR expectation',
    'ERROR onlyIfCached',
  ])
    assert.ok(foreseen.has(word), `${word} is not among ${[...foreseen].join(', ')}`);
});

async function isRefreshed(
  edge: Awaited<ReturnType<typeof startTestEdge>>,
  host: string,
  target: string,
): Promise<boolean> {
  const { headers } = await edge.get(target, { host });
  return headers['x-cache'] !== 'STALE';
}

test('explain shows that a WebSocket handshake bypasses the cache', async (t) => {
  const edge = await startTestEdge(t, [1]);
  const handshake = [
    'Connection',
    'Upgrade',
    'Upgrade',
    'websocket',
    'Sec-WebSocket-Key',
    'x',
    'Sec-WebSocket-Version',
    '13',
  ];
  const question = { method: 'GET', scheme: 'http', host: SITE_HOST, target: '/', clientAddress: '127.0.0.1' } as const;
  assert.equal((await edge.edge.explain({ ...question, headers: handshake })).xCache, 'BYPASS websocket');
  assert.equal((await edge.edge.explain({ ...question, headers: handshake.slice(2) })).xCache, 'MISS');
});

describe('explain predicts that no origin can answer', () => {
  const resolve = async (host: string) => {
    if (host === 'inner.test') return ['10.0.0.1'];
    throw new Error('no such name');
  };
  const to = (...hosts: string[]) => hosts.map((host) => ({ host, port: 80 }));
  const question = { method: 'GET', scheme: 'http', host: SITE_HOST, target: '/', headers: [] } as const;
  for (const [what, primary, backup, method, xCache, status] of [
    ['an address that the guard refuses', to('10.0.0.1'), [], 'GET', 'ERROR originForbidden', 502],
    ['a name with an address that the guard refuses', to('inner.test'), [], 'GET', 'ERROR originForbidden', 502],
    ['a name that does not resolve', to('nowhere.test'), [], 'GET', 'ERROR originDns', 502],
    ['two origins that fail', to('nowhere.test'), to('10.0.0.1'), 'GET', 'ERROR originForbidden', 502],
    ['a request past the cache', to('10.0.0.1'), [], 'POST', 'ERROR originForbidden', 502],
  ] as const) {
    test(`explain predicts the error for ${what}`, async (t) => {
      const edge = await startTestEdge(t, { primary, backup }, { resolve });
      const told = await edge.edge.explain({ ...question, method, clientAddress: '127.0.0.1' });
      assert.deepEqual([told.xCache, told.asksOrigin], [xCache, false]);
      assert.match(told.steps.at(-1)?.found ?? '', new RegExp(`^${status}: `));
      const answer = await edge.get('/', { method });
      assert.deepEqual([answer.status, answer.headers['x-cache']], [status, xCache]);
    });
  }

  test('explain lists an origin that may answer beside one that cannot', async (t) => {
    const edge = await startTestEdge(t, { primary: to('10.0.0.1'), backup: loopback([1]) }, { resolve });
    const { xCache, asksOrigin } = await edge.edge.explain({ ...question, clientAddress: '127.0.0.1' });
    assert.deepEqual([xCache, asksOrigin], ['MISS', true]);
  });

  for (const [cacheControl, xCache, status] of [
    ['max-age=1', 'STALE', 200],
    ['max-age=1, must-revalidate', 'ERROR originForbidden', 504],
  ] as const) {
    test(`explain shows a stale object with ${cacheControl}`, async (t) => {
      const { edge } = await startSite(t, reply('x', { 'cache-control': cacheControl, etag: '"1"' }), { resolve });
      await edge.get('/');
      edge.put({ name: SITE_HOST, origins: { ...NO_ORIGINS, primary: to('10.0.0.1') } });
      edge.advance(2_000);
      const told = await edge.edge.explain({ ...question, clientAddress: '127.0.0.1' });
      const answer = await edge.get('/');
      assert.deepEqual([answer.status, answer.headers['x-cache'], told.xCache], [status, xCache, xCache]);
    });
  }
});

test('explain shows that OPTIONS that may not be passed on is answered by the edge', async (t) => {
  const edge = await startTestEdge(t, [1]);
  const question = { method: 'OPTIONS', scheme: 'http', host: SITE_HOST, target: '/' } as const;
  const headers = ['Max-Forwards', '0'];
  const { xCache } = await edge.edge.explain({ ...question, headers, clientAddress: '127.0.0.1' });
  const answer = await edge.get('/', { method: 'OPTIONS', headers });
  assert.deepEqual([xCache, answer.headers['x-cache']], ['OWN serverOptions', 'OWN serverOptions']);
});

test('settings that an edge does not have are explained with the purges of its own, and are kept nowhere', async (t) => {
  const { edge, origin } = await startSite(t, reply('x', { 'cache-control': 'max-age=60' }), { site: {} });
  const origins = { ...NO_ORIGINS, primary: loopback([origin.port]) };
  const present: SiteSpec = { id: 7, name: SITE_HOST, type: 'static', state: 'open', origins };
  edge.put(present);
  const ask = (spec?: SiteSpec) =>
    edge.edge.explain({
      ...{ method: 'GET', scheme: 'http', host: SITE_HOST, target: '/a', headers: [], clientAddress: '192.0.2.1' },
      ...(spec !== undefined && { spec }),
    });
  await edge.get('/a');
  const closed: SiteSpec = { ...present, state: 'closed' };
  const tried = await ask(closed);
  assert.deepEqual([tried.isTrial, tried.xCache], [true, 'DENIED closed']);
  const stored = await ask();
  assert.deepEqual([stored.isTrial, stored.xCache], [false, 'HIT']);
  assert.equal((await edge.get('/a')).status, 200);
  assert.equal((await ask({ ...closed, id: present.id + 1 })).isTrial, false, 'another domain is not tried here');
  await assert.rejects(ask({ ...closed, name: '' }), /do not compile/);
});
