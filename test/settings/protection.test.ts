/** The protection of a domain from the call to the viewer, with every process real. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type Check, cacheStatus, runChecks, startWorld, startWorlds, targetsOf } from '../support/settings/world.ts';

const KEYS = ['thefirstkey12345678', 'thesecondkey1234567'] as const;

function signed(path: string, key: string): string {
  const at = Math.floor(Date.now() / 1000) + 600;
  return `${path}?auth_key=${at}-0-0-${createHash('md5').update(`${path}-${at}-0-0-${key}`).digest('hex')}`;
}

const CHECKS: Readonly<Record<string, Check>> = {
  'a rate limit refuses a client that asks too often': async ({ set, get, origin }) => {
    await set('config.setRateLimits', {
      limits: [{ path_type: 'prefix', path: '/login', requests: 2, seconds: 600, burst: 2 }],
    });
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await get('/login')).status);
    assert.deepEqual(statuses, [200, 200, 429, 429]);
    assert.equal((await get('/free')).status, 200);
    assert.deepEqual(targetsOf(origin), ['/login', '/free']);
    await set('config.setRateLimits', { limits: [] });
    assert.equal((await get('/login')).status, 200);
  },

  'keys of signed URLs reach the edges, and are rotated without a pause': async ({ set, get, origin }) => {
    await set('config.setUrlSigning', { sign: '1', primary_key: KEYS[0] });
    assert.equal(cacheStatus(await get('/a')), 'DENIED signature');
    assert.equal(cacheStatus(await get(signed('/a', KEYS[0]))), 'MISS');
    await set('config.setUrlSigning', { sign: '1', primary_key: KEYS[1], secondary_key: KEYS[0] });
    assert.equal(cacheStatus(await get(signed('/a', KEYS[0]))), 'HIT');
    assert.equal(cacheStatus(await get(signed('/a', KEYS[1]))), 'HIT');
    await set('config.setUrlSigning', { sign: '1', secondary_key: '' });
    assert.equal(cacheStatus(await get(signed('/a', KEYS[0]))), 'DENIED signature');
    assert.equal(cacheStatus(await get(signed('/a', KEYS[1]))), 'HIT');
    await set('config.setUrlSigning', { sign: '0' });
    assert.equal((await get('/a')).status, 200);
    assert.deepEqual(targetsOf(origin), ['/a']);
  },

  'redirects and response headers are those of the domain': async ({ set, get, origin }) => {
    await set('config.setRedirects', { redirects: [{ path_type: 'prefix', path: '/old', target: '/new' }] });
    await set('config.setResponseHeaders', { headers: [{ action: 'set', name: 'X-Frame-Options', value: 'DENY' }] });
    const { status, headers } = await get('/old/a?b');
    assert.deepEqual([status, headers['location'], headers['x-frame-options']], [302, '/new?b', 'DENY']);
    assert.equal((await get('/new')).headers['x-frame-options'], 'DENY');
    assert.deepEqual(targetsOf(origin), ['/new']);
  },
};

test('a domain is protected, seen by HTTP', async (t) => {
  const worlds = await startWorlds(t);
  await runChecks(t, worlds, CHECKS);

  await t.test('a change of a list of addresses reaches all domains that use it', async (t) => {
    const { client } = worlds;
    await client.call('addressList.set', { name: 'bad', addresses: '192.0.2.1' });
    const [one, two] = [await startWorld(t, worlds, 'one.example.com'), await startWorld(t, worlds, 'two.example.com')];
    for (const world of [one, two]) await world.set('config.setAddressLists', { deny: 'bad' });
    const seen = async () => [cacheStatus(await one.get('/a')), cacheStatus(await two.get('/a'))];
    assert.deepEqual(await seen(), ['MISS', 'MISS']);
    await client.call('addressList.set', { name: 'bad', addresses: ['127.0.0.0/8', '::1'] });
    await eventually('refused everywhere', async () => (await seen()).every((mark) => mark === 'DENIED addressList'));
    await client.call('addressList.set', { name: 'bad', addresses: '' });
    await eventually('let in again', async () => (await seen()).every((mark) => mark === 'HIT'));
  });
});

test('workers of a machine share a rate limit', async (t) => {
  const worlds = await startWorlds(t, { CAUSEWAY_EDGE_WORKERS: '3' });
  const { set, get } = await startWorld(t, worlds, 'www.example.com');
  const burst = 150;
  await set('config.setRateLimits', {
    limits: [{ path_type: 'prefix', path: '/', requests: 1, seconds: 3600, burst }],
  });
  // Each request has a connection of its own, so all workers get some; one after the other, they take much longer than
  // an exchange.
  let taken = 0;
  for (let refused = 0; refused < 30; ) {
    const { status } = await get('/a');
    if (status === 200) taken += 1;
    refused = status === 429 ? refused + 1 : 0;
    assert.ok(taken < 3 * burst, 'without an exchange each of three workers would let a whole burst through');
  }
  assert.ok(taken >= burst, `only ${taken} requests were let through`);
  t.diagnostic(`${taken} requests were let through, of a burst of ${burst}`);
});
