/** Name resolution against a name server on a real socket. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { startDns, type Zones } from '../../../test/support/edge/dns.ts';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { createResolver } from './resolve.ts';

describe('names of origins', () => {
  test('IPv4 comes first, and either family is enough', async (t) => {
    const { resolve } = await start(t, {
      'both.example': { a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8:0:0:0:0:0:1'] },
      'new.example': { aaaa: ['2001:db8:0:0:0:0:0:2'] },
      'old.example': { a: ['192.0.2.3'] },
    });
    assert.deepEqual(await resolve('BOTH.example'), ['192.0.2.1', '192.0.2.2', '2001:db8::1']);
    assert.deepEqual(await resolve('new.example'), ['2001:db8::2']);
    assert.deepEqual(await resolve('old.example'), ['192.0.2.3']);
  });

  test('a name is looked up once at a time, and again when its answer has expired', async (t) => {
    const { resolve, dns, pass } = await start(t, { 'a.example': { a: ['192.0.2.1'], ttl: 30 } });
    await Promise.all(Array.from({ length: 50 }, () => resolve('a.example')));
    assert.deepEqual(dns.asked.toSorted(), ['a.example A', 'a.example AAAA']);
    pass(29_000);
    await resolve('a.example');
    assert.equal(dns.asked.length, 2);
    pass(2_000);
    await resolve('a.example');
    assert.equal(dns.asked.length, 4);
  });

  test('names of one zone whose servers do not answer leave look-ups for the others', async (t) => {
    const silent = Array.from({ length: 6 }, (_, n) => `n${n}.slow.example`);
    const zones: Zones = { 'www.other.example': { a: ['192.0.2.1'] } };
    for (const name of silent) zones[name] = 'silent';
    const { resolve, dns } = await start(t, { ...zones, 'www.other.test': { a: ['192.0.2.1'] } }, '', 4);
    const refused = silent.map((name) => assert.rejects(resolve(name)));
    assert.deepEqual(await resolve('www.other.test'), ['192.0.2.1']);
    assert.equal(
      new Set(dns.asked.filter((asked) => asked.includes('slow'))).size,
      2 * 2,
      'half of them, both families',
    );
    await Promise.all(refused);
  });

  test('a name that does not exist is remembered for a while', async (t) => {
    const zones: Zones = {};
    const { resolve, dns, pass } = await start(t, zones);
    await assert.rejects(resolve('a.example'));
    await assert.rejects(resolve('a.example'));
    assert.equal(dns.asked.length, 2);
    zones['a.example'] = { a: ['192.0.2.1'] };
    pass(5_001);
    assert.deepEqual(await resolve('a.example'), ['192.0.2.1']);
  });

  test('names whose servers are silent delay no other, however many they are', async (t) => {
    const silent = Array.from({ length: 100 }, (_, i) => [`s${i}.example`, 'silent'] as const);
    const { resolve } = await start(t, { ...Object.fromEntries(silent), 'good.example': { a: ['192.0.2.1'] } });
    let isGivenUp = false;
    const waiting = silent.map(([name]) => assert.rejects(resolve(name)).then(() => (isGivenUp = true)));
    assert.deepEqual(await resolve('good.example'), ['192.0.2.1']);
    assert.equal(isGivenUp, false);
    await Promise.all(waiting);
  });

  test('an earlier answer is used for an hour while the servers fail', async (t) => {
    const zones: Zones = { 'a.example': { a: ['192.0.2.1'] } };
    const { resolve, pass } = await start(t, zones);
    await resolve('a.example');
    zones['a.example'] = 'fails';
    pass(61_000);
    assert.deepEqual(await resolve('a.example'), ['192.0.2.1']);
    pass(3_500_000);
    assert.deepEqual(await resolve('a.example'), ['192.0.2.1']);
    pass(100_000);
    await assert.rejects(resolve('a.example'));
    zones['a.example'] = undefined;
  });

  test('the hosts file precedes DNS', async (t) => {
    const hosts = '127.0.0.1 localhost\n# 192.0.2.9 a.example\n192.0.2.5\tx.example A.example # ours\n::1 a.example\n';
    const { resolve, dns } = await start(t, { 'a.example': { a: ['192.0.2.1'] } }, hosts);
    assert.deepEqual(await resolve('a.example'), ['192.0.2.5', '::1']);
    assert.equal(dns.asked.length, 0);
  });
});

async function start(t: TestContext, zones: Zones, hosts = '', maxLookups = 500) {
  const dns = await startDns(t, zones);
  const hostsFile = join(temporaryFolder(t), 'hosts');
  await writeFile(hostsFile, hosts);
  let now = 0;
  const resolve = createResolver({ monotonic: () => now, servers: [dns.server], hostsFile, maxLookups });
  const pass = (ms: number) => {
    now += ms;
  };
  return { resolve, dns, pass };
}
