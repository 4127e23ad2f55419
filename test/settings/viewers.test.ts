/** Settings as several viewers meet them: under a wildcard, with headers of their own, over IPv4 and IPv6. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilInForce } from '../support/process/service-with-domain.ts';
import { needs } from '../support/runner/needs.ts';
import { cacheStatus, startWorld, startWorlds, targetsOf } from '../support/settings/world.ts';

test('viewers of a wildcard are told apart', { timeout: 180_000 }, async (t) => {
  const worlds = await startWorlds(t);
  const world = await startWorld(t, worlds, '*.w.example.com', 'a.w.example.com');
  await untilInForce(world);
  const { set, get, origin } = world;

  await t.test('every host below a wildcard is served for itself; the name above it is unknown', async () => {
    const hosts = ['a.w.example.com', 'b.w.example.com', 'deep.b.w.example.com'];
    for (const host of [...hosts, ...hosts]) assert.equal((await get('/1', { host })).status, 200);
    assert.equal(cacheStatus(await get('/1', { host: 'w.example.com' })), 'DENIED unknownHost');
    assert.deepEqual(
      origin.requests.map(({ headers }) => headers['host']),
      hosts,
    );
  });

  await t.test('access rules refuse one of two viewers, whatever the other was given', async () => {
    const as = async (host: string, page: string, agent: string) =>
      cacheStatus(await get('/2', { host, headers: ['Referer', page, 'User-Agent', agent] }));
    await set('config.setReferer', { referer_type: 2, referer_blank: 0, referer_str: 'a.w.example.com' });
    await set('config.setUserAgent', { ua_control: 1, ua_str: 'curl' });
    const good = 'http://a.w.example.com/';
    assert.equal(await as('a.w.example.com', 'http://b.w.example.com/', 'Mozilla/5.0'), 'DENIED referer');
    assert.equal(await as('a.w.example.com', good, 'Mozilla/5.0'), 'MISS');
    assert.equal(await as('a.w.example.com', good, 'curl/8'), 'DENIED userAgent');
    assert.equal(await as('a.w.example.com', good, 'Mozilla/5.0'), 'HIT');
    assert.equal(await as('b.w.example.com', 'http://bad.example/', 'curl/8'), 'DENIED referer', 'the first rule');
    assert.equal(await as('b.w.example.com', good, 'Mozilla/5.0'), 'MISS');
    assert.deepEqual(targetsOf(origin).slice(3), ['/2', '/2']);
  });
});

test('an IPv6 entry refuses a viewer over IPv6, and no other', needs('ipv6', { timeout: 180_000 }), async (t) => {
  const worlds = await startWorlds(t, { CAUSEWAY_EDGE_HTTP_LISTEN: '[::]:0' });
  const world = await startWorld(t, worlds, 'six.example.com');
  await untilInForce(world);
  const both = async (path: string) =>
    [await world.get(path, { address: '::1' }), await world.get(path)].map(cacheStatus);
  await world.set('config.setIp', { ip_type: 1, ip_str: '2001:db8::/32' });
  assert.deepEqual(await both('/1'), ['MISS', 'HIT']);
  await world.set('config.setIp', { ip_type: 1, ip_str: '0:0::1/128' });
  assert.deepEqual(await both('/2'), ['DENIED ip', 'MISS']);
  await world.set('config.setIp', { ip_type: 1, ip_str: '127.0.0.1' });
  assert.deepEqual(await both('/3'), ['MISS', 'DENIED ip']);
  assert.deepEqual(targetsOf(world.origin), ['/1', '/2', '/3']);
});
