/** `updateConfOrigin` and `setCacheOptions`, from the call to what the viewers get and what reached the origins. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { createAuthority } from '../support/certificates/certificate.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { needs } from '../support/runner/needs.ts';
import { type Check, cacheStatus, runChecks, startWorlds, TEXT, targetsOf } from '../support/settings/world.ts';

const HOUR = { 'cache-control': 'max-age=3600' };
const COOKIE = { ...HOUR, 'set-cookie': 'a=1' };

/** What the origins are, and how they are asked. */
const originChecks = (t: TestContext): Readonly<Record<string, Check>> => ({
  'a backup is asked when the primary is down, and only then': async ({ set, get, origin }) => {
    const backup = await startOrigin(t, reply('backup', HOUR));
    await set('domain.updateOrigin', { data: `127.0.0.1:${origin.port}`, backup: [`127.0.0.1:${backup.port}`] });
    assert.equal((await get('/a')).body, TEXT);
    assert.deepEqual(targetsOf(backup), []);
    await origin.stop();
    assert.deepEqual(await get('/b').then(({ status, body }) => [status, body]), [200, 'backup']);
    assert.deepEqual([targetsOf(origin), targetsOf(backup)], [['/a'], ['/b']]);
  },

  'other origins are asked from then on, and what is stored stays': async ({ set, get, origin }) => {
    const other = await startOrigin(t, reply('other', HOUR));
    await get('/a');
    await set('domain.updateOrigin', { data: `127.0.0.1:${other.port}` });
    assert.deepEqual([(await get('/a')).body, (await get('/b')).body], [TEXT, 'other']);
    assert.deepEqual([targetsOf(origin), targetsOf(other)], [['/a'], ['/b']]);
  },

  'sourcehost is the Host that the origin sees': async ({ set, get, origin }) => {
    const data = `127.0.0.1:${origin.port}`;
    await get('/a');
    await set('domain.updateOrigin', { data, sourcehost: 'inner.example' });
    await get('/b');
    await set('domain.updateOrigin', { data, sourcehost: '' });
    await get('/c');
    const [own, inner, again] = origin.requests.map(({ headers }) => headers['host']);
    assert.match(own ?? '', /^http-\d\.example\.com$/);
    assert.deepEqual([inner, again], ['inner.example', own]);
  },

  'source_type https asks with TLS, protocol_follow as the viewer does': async ({ set, get, origin }) => {
    const secure = await startOrigin(t, reply('secure', HOUR), { tls: createAuthority(t).issue(['inner.example']) });
    const { port } = secure;
    await set('domain.updateOrigin', { data: `127.0.0.1:${port}`, source_type: 'https', sourcehost: 'inner.example' });
    assert.equal((await get('/a')).body, 'secure');
    assert.equal(secure.requests[0]?.serverName, 'inner.example');
    await set('domain.updateOrigin', { data: `127.0.0.1:${origin.port}`, source_type: 'protocol_follow' });
    assert.equal((await get('/b')).body, TEXT);
    assert.deepEqual([targetsOf(secure), targetsOf(origin)], [['/a'], ['/b']]);
  },
});

/** What is stored beyond what the interface document lets customers choose. */
const CACHE_CHECKS: Readonly<Record<string, Check>> = {
  'set_cookie: not stored, stored with it, or stored without it': async ({ set, get, origin }) => {
    origin.answer(reply('x', COOKIE));
    const twice = async (path: string) =>
      [await get(path), await get(path)].map(({ headers }) => headers['set-cookie']);
    assert.deepEqual(await twice('/bypass'), ['a=1', 'a=1']);
    await set('config.setCacheOptions', { set_cookie: 'store' });
    assert.deepEqual(await twice('/store'), ['a=1', 'a=1']);
    await set('config.setCacheOptions', { set_cookie: 'strip' });
    assert.deepEqual(await twice('/strip'), ['a=1', undefined]);
    assert.deepEqual(targetsOf(origin), ['/bypass', '/bypass', '/store', '/strip']);
  },

  'request_directives lets viewers past the cache': async ({ set, get, origin }) => {
    const noCache = { headers: ['Cache-Control', 'no-cache'] };
    await get('/a');
    assert.equal(cacheStatus(await get('/a', noCache)), 'HIT');
    await set('config.setCacheOptions', { request_directives: 1 });
    await get('/a', noCache);
    assert.equal(cacheStatus(await get('/a')), 'HIT', 'another viewer');
    assert.equal(origin.requests.length, 2);
  },

  'heuristic_cap 0: only what has a lifetime is fresh': async ({ set, get, origin }) => {
    origin.answer(reply('x', { 'last-modified': 'Wed, 01 Jan 2020 00:00:00 GMT' }));
    await get('/a');
    assert.equal(cacheStatus(await get('/a')), 'HIT');
    await set('config.setCacheOptions', { heuristic_cap: 0 });
    await get('/b');
    assert.notEqual(cacheStatus(await get('/b')), 'HIT');
    assert.deepEqual(targetsOf(origin), ['/a', '/b', '/b']);
  },

  'stale_cap: how long a copy stands in for an origin that is down': async ({ set, get, origin }) => {
    origin.answer(reply('x', { 'cache-control': 'max-age=0', etag: '"1"' }));
    await get('/a');
    await origin.stop();
    assert.deepEqual(await get('/a').then((seen) => [seen.body, cacheStatus(seen)]), ['x', 'STALE']);
    await set('config.setCacheOptions', { stale_cap: 0 });
    assert.equal((await get('/a')).status, 504);
    assert.equal(origin.requests.length, 1);
  },

  'normalize_vary: two viewers who mean the same share a variant': async ({ set, get, origin }) => {
    origin.answer(reply('x', { ...HOUR, vary: 'Accept-Language' }));
    const both = async (path: string) => {
      for (const languages of ['en, de', 'de, en']) await get(path, { headers: ['Accept-Language', languages] });
    };
    await both('/a');
    await set('config.setCacheOptions', { normalize_vary: 0 });
    await both('/b');
    assert.deepEqual(targetsOf(origin), ['/a', '/b', '/b']);
  },
  'match_language: a stored response in the language that a viewer likes best is enough': async (world) => {
    const { set, get, origin } = world;
    origin.answer(reply('x', { ...HOUR, vary: 'Accept-Language', 'content-language': 'de' }));
    const both = async (path: string) => {
      for (const languages of ['de', 'de, en;q=0.5']) await get(path, { headers: ['Accept-Language', languages] });
    };
    await both('/a');
    await set('config.setCacheOptions', { match_language: 1 });
    await both('/b');
    assert.deepEqual(targetsOf(origin), ['/a', '/a', '/b']);
  },
};

describe('origins and cache options', needs('openssl'), () => {
  test('each origin setting and cache option is obeyed by the edges when it is in force', {
    timeout: 180_000,
  }, async (t) => {
    await runChecks(t, await startWorlds(t), { ...originChecks(t), ...CACHE_CHECKS });
  });
});
