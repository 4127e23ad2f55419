import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { claimAddresses, type Wanted } from './claim-address.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 };

test('port 0 becomes a port that is free again', async () => {
  const claims = await claimAddresses([want('a', LOOPBACK), want('b', LOOPBACK)]);
  assert.equal(claims.kind, 'claimed');
  const ports = claims.kind === 'claimed' ? [...claims.addresses.values()].map(({ port }) => port) : [];
  assert.equal(new Set(ports).size, 2);
  for (const port of ports) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
  }
});

test('every obstacle is reported, also two settings with one address', async (t) => {
  const taken = createServer().listen({ ...LOOPBACK });
  await once(taken, 'listening');
  t.after(() => taken.close());
  const bound = taken.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  const [free = LOOPBACK] = await claimAddresses([want('a', LOOPBACK)]).then((claims) =>
    claims.kind === 'claimed' ? [...claims.addresses.values()] : [],
  );
  const claims = await claimAddresses([
    want('taken', { ...LOOPBACK, port }),
    want('first', free),
    want('second', free),
    want('strange', { host: '192.0.2.1', port: 0 }),
  ]);
  assert.deepEqual(claims, {
    kind: 'refused',
    problems: [
      { key: 'taken', problem: `taken cannot listen on 127.0.0.1:${port}: the address is already in use` },
      { key: 'second', problem: `second cannot listen on 127.0.0.1:${free.port}: the address is already in use` },
      { key: 'strange', problem: 'strange cannot listen on 192.0.2.1:0: the address does not belong to this machine' },
    ],
  });
});

test('a port that is taken over UDP alone is an obstacle for a listener with UDP', async (t) => {
  const taken = createSocket('udp4').bind(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const { port } = taken.address();
  const address = { ...LOOPBACK, port };
  assert.deepEqual(await claimAddresses([{ ...want('dns', address), withUdp: true }]), {
    kind: 'refused',
    problems: [{ key: 'dns', problem: `dns cannot listen on 127.0.0.1:${port}: the address is already in use` }],
  });
  assert.equal((await claimAddresses([{ ...want('dns', LOOPBACK), withUdp: true }])).kind, 'claimed');
});

function want(key: string, address: Wanted<string>['address']): Wanted<string> {
  return { key, who: key, address };
}
