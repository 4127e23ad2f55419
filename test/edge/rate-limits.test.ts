/** Rate limits over sockets: which clients are refused, on every way to an answer, and the reasons. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RateLimit } from '../../src/model/rules.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import { FRESH, reply } from '../support/edge/origin.ts';
import { startCase, type Version } from '../support/edge/shortcuts.ts';
import { startSite } from '../support/edge/site.ts';
import { needs } from '../support/runner/needs.ts';

const LIMIT: RateLimit = { match: 'prefix', content: '/', requests: 3, seconds: 60, burst: 3 };

for (const [version, options] of [
  ['HTTP/1.1', {}],
  ['HTTP/2', needs('openssl')],
] as readonly (readonly [Version, object])[]) {
  test(`hits, ready or not, count like misses over ${version}; what is refused does not count`, options, async (t) => {
    const { fetch, isPrepared, advance, edge } = await startCase(t, version, {
      site: { rateLimits: [{ ...LIMIT, requests: 4, burst: 4 }] },
    });
    const marks: (string | undefined)[] = [];
    for (let i = 0; i < 2; i++) marks.push((await fetch('/a')).headers['x-cache']);
    assert.ok(await isPrepared('/a'), 'the third request');
    marks.push((await fetch('/b')).headers['x-cache']);
    assert.deepEqual(marks, ['MISS', 'HIT', 'MISS']);
    assert.equal(await isPrepared('/a'), false);
    const refused = await fetch('/a');
    assert.deepEqual([refused.status, refused.headers['x-cache']], [429, 'DENIED rateLimit']);
    assert.deepEqual([refused.headers['retry-after'], refused.headers['cache-control']], ['15', 'no-store']);
    assert.match(refused.body, /rateLimit/);
    assert.equal((await fetch('/a', { method: 'HEAD' })).status, 429);
    const { log } = edge;
    assert.equal(log.at(-1)?.result, 'TCP_DENIED/429');
    advance(15_000);
    assert.ok(await isPrepared('/a'), 'one is given back');
    assert.equal((await fetch('/a')).status, 429);
  });
}

test('the first limit whose path matches counts, and a path that no limit has is free', async (t) => {
  const { edge } = await startSite(t, reply('x', FRESH));
  edge.put({
    name: SITE_HOST,
    rateLimits: [
      { ...LIMIT, content: '/login', requests: 1, burst: 1 },
      { ...LIMIT, match: 'suffix', content: 'php', requests: 2, burst: 2 },
    ],
  });
  const asked = async (path: string, method = 'GET') => (await edge.get(path, { method })).status;
  assert.deepEqual([await asked('/login.php'), await asked('/a.php'), await asked('/b.php')], [200, 200, 429]);
  assert.deepEqual([await asked('/login'), await asked('/login/x'), await asked('/login', 'POST')], [200, 429, 429]);
  for (let i = 0; i < 5; i++) assert.equal(await asked('/free'), 200);
});

test('other spellings of a path count as the path that an origin may read', async (t) => {
  const { edge } = await startSite(t, reply('x', FRESH));
  edge.put({ name: SITE_HOST, rateLimits: [{ ...LIMIT, content: '/login', requests: 1, burst: 1 }] });
  assert.equal((await edge.get('/login')).status, 200);
  for (const path of ['//login', '/%6Cogin', '/x/../login', '/x/..%2Flogin', '/login/../x', '/%2Flogin', '\\login'])
    assert.equal((await edge.get(`/${path.replace(/^\//, '')}`)).status, 429, path);
});

test('a path that an origin may read differently counts by the limits of all its readings', async (t) => {
  const { edge } = await startSite(t, reply('x', FRESH));
  const [strict, loose] = [
    { ...LIMIT, content: '/login', requests: 1, burst: 1 },
    { ...LIMIT, requests: 100, burst: 100 },
  ];
  edge.put({ name: SITE_HOST, rateLimits: [{ ...loose, content: '/static/' }, strict, loose] });
  assert.equal((await edge.get('/login')).status, 200);
  for (const path of ['//login', '/x/..%2Flogin', '/static/..%2Flogin', '/%2Flogin', '/login/../x'])
    assert.equal((await edge.get(path)).status, 429, path);
  const { steps, xCache } = await edge.edge.explain({
    ...{ method: 'GET', scheme: 'http', host: SITE_HOST, target: '//login', headers: [] },
    clientAddress: '127.0.0.1',
  });
  assert.equal(xCache, 'DENIED rateLimit');
  assert.equal(steps.filter(({ stage }) => stage === 'limit').length, 2);
});

test('an answer to a path with several readings is never ready', async (t) => {
  const { fetch, isPrepared } = await startCase(t, 'HTTP/1.1', {
    site: {
      rateLimits: [
        { ...LIMIT, content: '/login', requests: 6, burst: 6 },
        { ...LIMIT, requests: 100, burst: 100 },
      ],
    },
  });
  for (let n = 0; n < 3; n++) assert.equal((await fetch('//login')).status, 200);
  assert.equal(await isPrepared('//login'), false);
});

test('a client is the address that a trusted proxy names', async (t) => {
  const proxies = { trusted: ['127.0.0.0/8'], protocol: 'off' } as const;
  const { edge } = await startSite(t, reply('x', FRESH), { proxies });
  edge.put({ name: SITE_HOST, rateLimits: [{ ...LIMIT, requests: 1, burst: 1 }] });
  const as = async (address: string) => (await edge.get('/', { headers: ['X-Forwarded-For', address] })).status;
  assert.deepEqual([await as('192.0.2.1'), await as('192.0.2.1'), await as('192.0.2.2')], [200, 429, 200]);
  assert.deepEqual([await as('2001:db8::1'), await as('2001:db8::2'), await as('2001:db8:0:1::1')], [200, 429, 200]);
});

test('a client that access rules refuse is not counted, and one that is redirected to HTTPS is', async (t) => {
  const { edge } = await startSite(t, reply('x', FRESH));
  const rateLimits = [{ ...LIMIT, requests: 1, burst: 1 }];
  edge.put({ name: SITE_HOST, rateLimits, access: { deniedUserAgents: ['bot'] } });
  const status = async (headers: readonly string[] = []) => (await edge.get('/', { headers })).status;
  assert.deepEqual([await status(['User-Agent', 'bot']), await status(), await status()], [403, 200, 429]);
  edge.put({ name: SITE_HOST, rateLimits: [LIMIT], tls: { certificate: 'c1', forceHttps: true } });
  for (const expected of [301, 301, 301, 429]) assert.equal(await status(), expected);
});

test('explain says which limit counts and whether it refuses, and counts nothing', async (t) => {
  const { edge } = await startSite(t, reply('x', FRESH));
  edge.put({ name: SITE_HOST, rateLimits: [{ ...LIMIT, requests: 1, burst: 1 }] });
  const question = { method: 'GET', scheme: 'http', host: SITE_HOST, target: '/', headers: [] } as const;
  const explain = () => edge.edge.explain({ ...question, clientAddress: '127.0.0.1' });
  for (let i = 0; i < 3; i++) {
    const { steps, xCache } = await explain();
    assert.equal(xCache, 'MISS');
    const { found } = steps.find(({ stage }) => stage === 'limit') ?? {};
    assert.equal(found, 'prefix /: 1 requests in 60 s, 1 at once; the client has requests left');
  }
  await edge.get('/');
  const { steps, xCache } = await explain();
  assert.equal(xCache, 'DENIED rateLimit');
  assert.match(steps.at(-1)?.found ?? '', /refused for \d+ ms$/);
});

test('a changed limit begins anew, and one that is taken away refuses nobody', async (t) => {
  const { edge } = await startSite(t, reply('x', FRESH));
  const statuses = async (...rateLimits: RateLimit[]) => {
    edge.put({ name: SITE_HOST, rateLimits });
    return [(await edge.get('/')).status, (await edge.get('/')).status];
  };
  const one = { ...LIMIT, requests: 1, burst: 1 };
  assert.deepEqual(await statuses(one), [200, 429]);
  assert.deepEqual(await statuses({ ...one, seconds: 61 }), [200, 429]);
  assert.deepEqual(await statuses(), [200, 200]);
  assert.deepEqual(await statuses(one), [429, 429]);
});
