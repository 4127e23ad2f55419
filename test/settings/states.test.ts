/**
 * Domains as viewers see them when they are reviewed, closed, opened, rejected, disabled and deleted; and the requests that
 * reach the origin.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startWorld, startWorlds, targetsOf, type World, type Worlds } from '../support/settings/world.ts';

test('a domain under review by hand is served once it is approved', { timeout: 180_000 }, async (t) => {
  const worlds = await startWorlds(t, { CAUSEWAY_REVIEW: 'manual' });

  await t.test('a waiting domain is unknown, an approved one is served', async (t) => {
    const { origin, see, decide } = await open(t, worlds, 'a.example.com');
    await see('/1', 'unknownHost');
    await decide('approve');
    await see('/2', 'served');
    assert.deepEqual(targetsOf(origin), ['/2']);
  });

  await t.test('a rejected domain is refused; after a change it waits again', async (t) => {
    const { origin, client, domain_id, see, decide } = await open(t, worlds, 'b.example.com');
    await decide('approve');
    await see('/1', 'served');
    await decide('reject');
    await see('/1', 'rejected');
    await client.call('config.setIp', { domain_id, ip_type: 0 });
    await see('/1', 'unknownHost');
    await decide('approve');
    await see('/2', 'served');
    assert.deepEqual(targetsOf(origin), ['/1', '/2']);
  });
});

test('states that customers and operators choose are obeyed, with automatic review', {
  timeout: 180_000,
}, async (t) => {
  const worlds = await startWorlds(t);

  await t.test('a closed domain refuses stored objects too, and serves them again when it is opened', async (t) => {
    const { origin, client, domain_id, get, see } = await open(t, worlds, 'a.example.com');
    await see('/1', 'served');
    await client.call('domain.setStatus', { domain_id, domain_status: 0 });
    await see('/1', 'closed');
    assert.equal((await get('/3')).status, 403);
    await client.call('domain.setStatus', { domain_id, domain_status: 2 });
    await see('/2', 'served');
    assert.deepEqual(targetsOf(origin), ['/1', '/2']);
  });

  await t.test('a domain disabled by the operator is refused until it is enabled', async (t) => {
    const { origin, see, decide } = await open(t, worlds, 'b.example.com');
    await see('/1', 'served');
    await decide('disable');
    await see('/1', 'disabled');
    await decide('enable');
    await see('/2', 'served');
    assert.deepEqual(targetsOf(origin), ['/1', '/2']);
  });

  await t.test('a rejected domain is refused until its customer changes something', async (t) => {
    const { origin, see, decide, set } = await open(t, worlds, 'c.example.com');
    await see('/1', 'served');
    await decide('reject');
    await see('/1', 'rejected');
    await set('config.setIp', { ip_type: 0 });
    await see('/2', 'served');
    assert.deepEqual(targetsOf(origin), ['/1', '/2']);
  });

  await t.test('a deleted domain is unknown, and added again it has nothing of the first', async (t) => {
    const first = await open(t, worlds, 'd.example.com');
    await first.see('/1', 'served');
    await first.client.call('domain.delete', { domain_id: first.domain_id });
    await first.see('/1', 'unknownHost');
    const second = await open(t, worlds, 'd.example.com');
    await second.see('/1', 'served');
    assert.deepEqual([targetsOf(first.origin), targetsOf(second.origin)], [['/1'], ['/1']]);
  });
});

interface Watched extends World {
  /** Decides as the operator. */
  decide(action: 'approve' | 'reject' | 'disable' | 'enable'): Promise<unknown>;
  /** Resolves when a viewer is answered so: `served`, or refused for this reason. */
  see(path: string, expected: string): Promise<void>;
}

async function open(t: TestContext, worlds: Worlds, domain: string): Promise<Watched> {
  const world = await startWorld(t, worlds, domain);
  const { client, domain_id, get } = world;
  return {
    ...world,
    decide: (action) => client.call('operator.setDomainStatus', { account_id: 1, domain_id, action }),
    async see(path, expected) {
      const [status, cache] = expected === 'served' ? [200, /^(MISS|HIT)$/] : [403, new RegExp(`^DENIED ${expected}$`)];
      await eventually(`a viewer of ${path} sees: ${expected}`, async () => {
        const seen = await get(path);
        assert.equal(seen.status, status);
        assert.match(seen.headers['x-cache'] ?? '', cache);
        return true;
      });
    },
  };
}
