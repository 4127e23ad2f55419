/** Names that lead to where the edge must not connect, by a real name server: as origins, as redirect targets, as what is probed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createConnector } from '../../src/edge/origin/connector.ts';
import { createGuard } from '../../src/edge/origin/guard.ts';
import { probeOrigin } from '../../src/edge/origin/probe.ts';
import { createResolver } from '../../src/edge/origin/resolve.ts';
import { startDns, type Zone, type Zones } from '../support/edge/dns.ts';
import { loopback, NO_ORIGINS, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin, startRawOrigin } from '../support/edge/origin.ts';

const CDN = { id: 'causeway' };

type Cleanup = { after(work: () => unknown): void };

const INNER: readonly (readonly [what: string, zone: Zone])[] = [
  ['loopback', { a: ['127.0.0.1'] }],
  ['all of loopback', { a: ['127.255.255.254'] }],
  ['this host', { a: ['0.0.0.0'] }],
  ['private', { a: ['10.0.0.1', '172.16.0.1', '192.168.0.1'] }],
  ['link-local', { a: ['169.254.1.1'] }],
  ['metadata', { a: ['169.254.169.254'] }],
  ['carrier-grade NAT', { a: ['100.64.0.1'] }],
  ['documentation and benchmarks', { a: ['192.0.2.1', '198.18.0.1'] }],
  ['multicast and reserved', { a: ['224.0.0.1', '255.255.255.255'] }],
  ['loopback, v6', { aaaa: ['0:0:0:0:0:0:0:1'] }],
  ['this host, v6', { aaaa: ['0:0:0:0:0:0:0:0'] }],
  ['v4-mapped loopback', { aaaa: ['0:0:0:0:0:ffff:7f00:1'] }],
  ['v4-mapped metadata', { aaaa: ['0:0:0:0:0:ffff:a9fe:a9fe'] }],
  ['v4-mapped, though it would be reachable', { aaaa: ['0:0:0:0:0:ffff:808:808'] }],
  ['link-local, v6', { aaaa: ['fe80:0:0:0:0:0:0:1'] }],
  ['unique local', { aaaa: ['fd00:0:0:0:0:0:0:1'] }],
  ['metadata, v6', { aaaa: ['fd00:ec2:0:0:0:0:0:254'] }],
  ['NAT64', { aaaa: ['64:ff9b:0:0:0:0:7f00:1'] }],
  ['6to4', { aaaa: ['2002:7f00:1:0:0:0:0:1'] }],
  ['of both families', { a: ['127.0.0.1'], aaaa: ['0:0:0:0:0:0:0:1'] }],
];
/** Names as a zone has them. */
const ZONES: Zones = Object.fromEntries(INNER.map(([, zone], index) => [`inner${index}.example`, zone]));

describe('names of private addresses', () => {
  test('an origin with a private address is refused', async (t) => {
    const { resolve } = await startNames(t, ZONES);
    const edge = await startTestEdge(t, [], { resolve, guard: createGuard({ allow: [], refuse: [] }) });
    for (const [index, [what]] of INNER.entries()) {
      const primary = [{ host: `inner${index}.example` }];
      edge.put({ name: SITE_HOST, origins: { ...NO_ORIGINS, primary } });
      const received = await edge.get('/');
      assert.deepEqual([received.status, received.headers['x-cache']], [502, 'ERROR originForbidden'], what);
    }
  });

  test('a redirect to a private address is refused', async (t) => {
    const { resolve } = await startNames(t, ZONES);
    const origin = await startOrigin(t, (request, response) => {
      response.writeHead(302, { location: `http://inner${request.target.slice(1)}.example/` }).end();
    });
    // The site's own origin is on the loopback, where tests may listen; so the loopback's rows are left to the origins.
    const edge = await startTestEdge(t, [], { resolve, guard: createGuard({ allow: ['127.0.0.1/32'], refuse: [] }) });
    edge.put({ name: SITE_HOST, redirectFollow: true, origins: { ...NO_ORIGINS, primary: loopback([origin.port]) } });
    const rows = [...INNER.entries()].filter(([, [, zone]]) => zone.a?.includes('127.0.0.1') !== true);
    for (const [index, [what]] of rows) {
      const received = await edge.get(`/${index}`);
      assert.deepEqual([received.status, received.headers['x-cache']], [302, 'MISS redirectTarget'], what);
    }
    const failures = new RegExp(`causeway_edge_origin_failures_total{reason="originForbidden"} ${rows.length}\n`);
    assert.match(await edge.registry.metrics(), failures);
  });

  test('a probe of a private address is refused, by a connection or by a monitor URL', async (t) => {
    const { resolve } = await startNames(t, ZONES);
    const guard = createGuard({ allow: [], refuse: [] });
    const connect = createConnector({ guard, resolve, timeoutMs: 1_000 });
    for (const [index, [what]] of INNER.entries()) {
      const destination = { host: `inner${index}.example`, port: 80, isAddress: false, serverName: undefined };
      assert.equal(await probeOrigin({ key: 'x', destination }, connect, CDN), 'forbidden', what);
      const request = { host: 'h', target: '/latest/meta-data/' };
      assert.equal(await probeOrigin({ key: 'x', destination, request }, connect, CDN), 'forbidden', what);
    }
  });
});

describe('a name that moves to a private address between two look-ups', () => {
  // 127.0.0.2 stands for an address out in the world.
  const world = () => createGuard({ allow: ['127.0.0.2/32'], refuse: [] });

  test('an origin whose name moves to a private address is refused', async (t) => {
    const zones: Zones = { 'moving.example': { a: ['127.0.0.2'], ttl: 0 } };
    const { resolve, advance } = await startNames(t, zones);
    const origin = await startOrigin(t, reply('fine', { connection: 'close' }), { host: '127.0.0.2' });
    const inner = await startOrigin(t, reply('secret'));
    const edge = await startTestEdge(t, [], { resolve, guard: world() });
    for (const port of [origin.port, inner.port]) {
      edge.put({ name: SITE_HOST, origins: { ...NO_ORIGINS, primary: [{ host: 'moving.example', port }] } });
      assert.notEqual((await edge.get('/')).headers['x-cache'], 'ERROR originForbidden');
    }
    zones['moving.example'] = { a: ['127.0.0.1', '169.254.169.254'], ttl: 0 };
    advance(5_000);
    assert.equal((await edge.get('/')).headers['x-cache'], 'ERROR originForbidden');
    assert.equal(inner.connections(), 0);
  });

  test('a redirect and a probe whose name moves to a private address are refused', async (t) => {
    const zones: Zones = { 'moving.example': { a: ['127.0.0.2'], ttl: 0 } };
    const { resolve, advance } = await startNames(t, zones);
    const target = await startOrigin(t, reply('fine', { connection: 'close' }), { host: '127.0.0.2' });
    const location = `http://moving.example:${target.port}/`;
    const origin = await startOrigin(t, (_request, response) => response.writeHead(302, { location }).end(), {
      host: '127.0.0.2',
    });
    const edge = await startTestEdge(t, [], { resolve, guard: world() });
    const primary = [{ host: '127.0.0.2', port: origin.port }];
    edge.put({ name: SITE_HOST, redirectFollow: true, origins: { ...NO_ORIGINS, primary } });
    const connect = createConnector({ guard: world(), resolve, timeoutMs: 1_000 });
    const destination = { host: 'moving.example', port: target.port, isAddress: false, serverName: undefined };
    assert.equal((await edge.get('/1')).body, 'fine');
    assert.equal(await probeOrigin({ key: 'x', destination }, connect, CDN), 'up');
    zones['moving.example'] = { a: ['127.0.0.1'], ttl: 0 };
    advance(5_000);
    assert.equal((await edge.get('/2')).headers['x-cache'], 'MISS redirectTarget');
    assert.equal(await probeOrigin({ key: 'x', destination }, connect, CDN), 'forbidden');
    assert.equal(target.requests.length, 1);
  });
});

test('our own listeners are refused in an opened network: as origins, as redirect targets, to probes', async (t) => {
  const own = await startRawOrigin(t, () => undefined);
  const { resolve } = await startNames(t, { 'own.example': { a: ['127.0.0.1'], aaaa: ['0:0:0:0:0:0:0:1'] } });
  const guard = createGuard({ allow: ['0.0.0.0/0', '::/0'], refuse: [{ host: '::', port: own.port }] });
  const origin = await startOrigin(t, (_request, response) => {
    response.writeHead(301, { location: `http://own.example:${own.port}/` }).end();
  });
  const edge = await startTestEdge(t, [], { resolve, guard });
  for (const host of ['own.example', '127.0.0.1', '::1', '127.9.9.9', '0.0.0.0']) {
    edge.put({ name: SITE_HOST, origins: { ...NO_ORIGINS, primary: [{ host, port: own.port }] } });
    assert.equal((await edge.get('/')).headers['x-cache'], 'ERROR originForbidden', host);
  }
  edge.put({ name: SITE_HOST, redirectFollow: true, origins: { ...NO_ORIGINS, primary: loopback([origin.port]) } });
  assert.equal((await edge.get('/')).headers['x-cache'], 'MISS redirectTarget');
  const connect = createConnector({ guard, resolve, timeoutMs: 1_000 });
  const destination = { host: 'own.example', port: own.port, isAddress: false, serverName: undefined };
  assert.equal(await probeOrigin({ key: 'x', destination }, connect, CDN), 'forbidden');
  assert.equal(own.connections(), 0);
});

test('a name with public and private addresses is connected to at the public ones only', async (t) => {
  const { resolve } = await startNames(t, { 'mixed.example': { a: ['127.0.0.1', '127.0.0.2'] } });
  const origin = await startOrigin(t, reply('fine'), { host: '127.0.0.2' });
  const guard = createGuard({ allow: ['127.0.0.2/32'], refuse: [] });
  const edge = await startTestEdge(t, { primary: [{ host: 'mixed.example', port: origin.port }] }, { resolve, guard });
  assert.equal((await edge.get('/')).body, 'fine');
});

async function startNames(t: Cleanup, zones: Zones) {
  const { server } = await startDns(t, zones);
  let ahead = 0;
  const resolve = createResolver({
    monotonic: () => performance.now() + ahead,
    servers: [server],
    hostsFile: '/dev/null',
  });
  const advance = (ms: number) => {
    ahead += ms;
  };
  return { resolve, advance };
}
