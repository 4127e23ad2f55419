/**
 * Each setting from the call to the viewer, with every process real: set through the typed client, awaited until it is in force
 * (state 2), then what a viewer gets and what reached the origin. What a setting means in detail, the tests of the edge say.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { ADVANCED_OFF } from '../support/edge/advanced.ts';
import { type Answer, reply } from '../support/edge/origin.ts';
import { needs } from '../support/runner/needs.ts';
import {
  type Check,
  cacheStatus,
  runChecks,
  startWorlds,
  TEXT,
  targetsOf,
  withHttps,
} from '../support/settings/world.ts';

const LARGE = Buffer.alloc(3 * 2 ** 20, 'x');
const POLICY = { is_cache: 1, policy_type: 'suffix', content: 'jpg', time_h: 1 } as const;

/** What each setting changes; each check sees the edge with and without it. */
const CHECKS: Readonly<Record<string, Check>> = {
  'a policy decides what is cached, whatever the origin says': async ({ set, get, origin, scheme: policy_scheme }) => {
    origin.answer(reply('x', { 'cache-control': 'max-age=0' }));
    await get('/a.jpg');
    await get('/a.jpg');
    assert.equal(origin.requests.length, 2, 'the origin wants to be asked');
    const never = { is_cache: 0, policy_type: 'prefix', content: '/api/', priority: 9 } as const;
    await set('config.setPolicies', { use_header_setting: 0, policy: [{ ...POLICY, policy_scheme }, never] });
    const cached = [await get('/b.jpg'), await get('/b.jpg?x'), await get('/b.jpg')];
    assert.deepEqual(cached.map(cacheStatus), ['MISS', 'MISS', 'HIT']);
    assert.equal(cacheStatus(await get('/api/c.jpg')), 'BYPASS policy');
    assert.equal(cacheStatus(await get('/d.txt')), 'BYPASS noPolicy');
    await set('config.setPolicies', { use_header_setting: 1 });
    assert.notEqual(cacheStatus(await get('/d.txt')), 'BYPASS noPolicy');
  },

  'directories go first with prefix_cache_first': async ({ set, get, origin, scheme: policy_scheme }) => {
    const directory = { is_cache: 0, policy_type: 'prefix', content: '/a/' } as const;
    const suffix = { ...POLICY, policy_scheme, priority: 99 };
    await set('config.setPolicies', { use_header_setting: 0, policy: [suffix, directory] });
    assert.equal(cacheStatus(await get('/a/1.jpg')), 'MISS');
    await set('config.setAdvanced', { ...ADVANCED_OFF, prefix_cache_first: 1 });
    assert.deepEqual([await get('/a/2.jpg'), await get('/a/1.jpg')].map(cacheStatus), Array(2).fill('BYPASS policy'));
    assert.deepEqual(targetsOf(origin), ['/a/1.jpg', '/a/2.jpg', '/a/1.jpg']);
  },

  'keep_url_params takes the query out of the key, not out of the request': async ({ set, get, origin }) => {
    await set('config.setAdvanced', { ...ADVANCED_OFF, keep_url_params: '1' });
    assert.deepEqual([await get('/a?one'), await get('/a?two')].map(cacheStatus), ['MISS', 'HIT']);
    assert.deepEqual(targetsOf(origin), ['/a?one']);
  },

  'expires is what browsers are told, not how long edges keep': async ({ set, get, origin }) => {
    assert.match((await get('/a')).headers['cache-control'] ?? '', /max-age=3600/);
    await set('config.setAdvanced', { ...ADVANCED_OFF, expires: 60 });
    assert.match((await get('/a')).headers['cache-control'] ?? '', /max-age=60\b/);
    assert.deepEqual(targetsOf(origin), ['/a']);
  },

  'access_control_max_age is what a preflight is told': async ({ set, get, origin }) => {
    origin.answer(reply('', { 'access-control-allow-origin': '*' }, 204));
    const preflight = {
      method: 'OPTIONS',
      headers: ['Origin', 'http://b.example', 'Access-Control-Request-Method', 'PUT'],
    };
    assert.equal((await get('/a', preflight)).headers['access-control-max-age'], undefined);
    await set('config.setAdvanced', { ...ADVANCED_OFF, access_control_max_age: '600' });
    assert.equal((await get('/a', preflight)).headers['access-control-max-age'], '600');
  },

  'page_compress compresses what the viewer understands': async ({ set, get, origin }) => {
    const accept = { headers: ['Accept-Encoding', 'gzip'] };
    assert.equal((await get('/a', accept)).headers['content-encoding'], undefined);
    await set('config.setAdvanced', { ...ADVANCED_OFF, page_compress: 1 });
    const { headers, body } = await get('/b', accept);
    assert.equal(headers['content-encoding'], 'gzip');
    assert.equal(gunzipSync(Buffer.from(body, 'latin1')).toString(), TEXT);
    assert.equal((await get('/b')).body, TEXT, 'another viewer understands none');
    assert.deepEqual(targetsOf(origin), ['/a', '/b']);
    assert.equal(origin.requests[1]?.headers['accept-encoding'], 'identity');
  },

  'redirect_follow follows the origin’s redirects': async ({ set, get, origin }) => {
    origin.answer((request, response) => {
      if (request.target.startsWith('/old')) reply('', { location: '/new' }, 302)(request, response);
      else reply('moved here')(request, response);
    });
    assert.equal((await get('/old')).status, 302);
    await set('config.setAdvanced', { ...ADVANCED_OFF, redirect_follow: 1 });
    assert.deepEqual(await get('/old?2').then(({ status, body }) => [status, body]), [200, 'moved here']);
    assert.deepEqual(targetsOf(origin), ['/old', '/old?2', '/new']);
  },

  'range_back_source fetches slices': async ({ set, get, origin }) => {
    origin.answer(ranges);
    await set('config.setAdvanced', { ...ADVANCED_OFF, range_back_source: 1 });
    const { status, body } = await get('/large', { headers: ['Range', 'bytes=0-9'] });
    assert.deepEqual([status, body], [206, 'x'.repeat(10)]);
    assert.equal(origin.requests[0]?.headers['range'], 'bytes=0-1048575');
    assert.equal((await get('/large')).body, LARGE.toString('latin1'), 'as a whole');
    assert.equal(new Set(origin.requests.map(({ headers }) => headers['range'])).size, 3, 'slice by slice');
  },

  'the IP rule refuses addresses; the answer is the page, the redirect or a plain 403': async ({
    set,
    get,
    origin,
  }) => {
    await set('config.setIp', { ip_type: 1, ip_str: '192.0.2.1' });
    assert.equal((await get('/a')).status, 200);
    await set('config.setIp', { ip_type: 1, ip_str: ['127.0.0.0/8', '::1'] });
    const plain = await get('/a');
    assert.deepEqual([plain.status, cacheStatus(plain)], [403, 'DENIED ip']);
    await set('config.setAdvanced', { ...ADVANCED_OFF, forbid_http_code: '403', html_403: '<h1>no</h1>' });
    const page = await get('/a');
    assert.deepEqual([page.status, page.body, page.headers['cache-control']], [403, '<h1>no</h1>', 'no-store']);
    const url = 'http://sorry.example/';
    await set('config.setAdvanced', { ...ADVANCED_OFF, forbid_http_code: 302, forbid_redirect_url: url });
    const redirect = await get('/a');
    assert.deepEqual([redirect.status, redirect.headers['location']], [302, url]);
    await set('config.setIp', { ip_type: 0 });
    assert.equal((await get('/a')).status, 200);
    assert.equal(origin.requests.length, 1, 'who is refused does not reach the origin');
  },

  'the referer rule refuses links from other pages': async ({ set, get, origin }) => {
    const from = async (...referer: string[]) =>
      cacheStatus(await get('/a', { headers: referer.flatMap((page) => ['Referer', page]) }));
    await set('config.setReferer', { referer_type: '2', referer_blank: 0, referer_str: 'good.example' });
    assert.deepEqual(
      [await from('http://www.good.example/x'), await from('http://bad.example/'), await from()],
      ['MISS', 'DENIED referer', 'DENIED referer'],
    );
    await set('config.setReferer', { referer_type: 1, referer_blank: '1', referer_str: 'bad.example' });
    assert.deepEqual([await from('http://bad.example/'), await from()], ['DENIED referer', 'HIT']);
    assert.equal(origin.requests.length, 1, 'who is refused does not reach the origin');
  },

  'the User-Agent rule refuses programs': async ({ set, get, origin }) => {
    await set('config.setUserAgent', { ua_control: 1, ua_str: 'curl,^$' });
    const as = async (...agent: string[]) =>
      cacheStatus(await get('/a', { headers: agent.flatMap((name) => ['User-Agent', name]) }));
    assert.deepEqual(
      [await as('CURL/8'), await as(), await as('Mozilla/5.0')],
      ['DENIED userAgent', 'DENIED userAgent', 'MISS'],
    );
    assert.equal(origin.requests.length, 1, 'who is refused does not reach the origin');
  },
};

const NEEDS = needs('openssl', { timeout: 180_000 });

test('each setting is obeyed by the edges when it is in force, whatever the scheme', NEEDS, async (t) => {
  const worlds = await startWorlds(t);
  await t.test('each setting is obeyed over http', (t) => runChecks(t, worlds, CHECKS));
  await t.test('each setting is obeyed over https', async (t) => runChecks(t, await withHttps(t, worlds), CHECKS));
});

const ranges: Answer = ({ headers }, response) => {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers['range'] ?? '') ?? [];
  if (first === undefined) return void response.writeHead(200, { etag: '"1"' }).end(LARGE);
  const part = LARGE.subarray(Number(first), Number(last) + 1);
  const range = `bytes ${first}-${Number(first) + part.length - 1}/${LARGE.length}`;
  response.writeHead(206, { etag: '"1"', 'content-range': range, 'content-length': part.length }).end(part);
};
