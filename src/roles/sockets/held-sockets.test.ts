import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { freePort } from '../../../test/support/free-port.ts';
import { HeldSockets, type HeldSocketsOptions } from './held-sockets.ts';

const SLOTS = [
  { name: 'control', part: 'control' },
  { name: 'edge-worker-1', part: 'edge-worker' },
  { name: 'edge-worker-2', part: 'edge-worker' },
];

/** A program that listens on the socket that it was started with, and accepts nothing. */
const LISTEN =
  "require('node:net').createServer().listen({ fd: 3 }, () => { require('node:fs').writeSync(1, 'up'); for (;;); })";

test('each worker has sockets of its own, and other parts have none', async () => {
  using held = await hold();
  assert.equal(held.isWhole, true);
  assert.deepEqual(held.of('control'), {});
  const [first = [], second = []] = [held.of('edge-worker-1').http, held.of('edge-worker-2').http];
  assert.equal(new Set([...first, ...second]).size, 64);
});

test('a connection waits in a held socket, and is reset when the sockets are bound anew', async () => {
  const port = await freePort();
  using held = await hold({ port, slots: SLOTS.slice(0, 2) });
  const [socket = 0] = held.of('edge-worker-1').http ?? [];
  const listening = spawn(process.execPath, ['-e', LISTEN], { stdio: ['ignore', 'pipe', 'inherit', socket] });
  await once(listening.stdout ?? assert.fail(), 'data');
  listening.kill('SIGKILL');
  await once(listening, 'exit');
  const waiting = connect(port, '127.0.0.1');
  await once(waiting, 'connect');
  held.renew('edge-worker-1');
  const [error] = await once(waiting, 'error');
  assert.equal(error.code, 'ECONNRESET');
  assert.equal(held.isWhole, true);
});

test('inherited sockets are shared, and are enough where none can be bound', async () => {
  const http = { address: { host: '127.0.0.1', port: 80 }, descriptors: [3, 4] };
  using held = await hold({ canBind: false, inherited: new Map([['http', http] as const]) });
  assert.equal(held.isWhole, true);
  for (const name of ['edge-worker-1', 'edge-worker-2']) assert.deepEqual([...new Set(held.of(name).http)], [3, 4]);
  using none = await hold({ canBind: false });
  assert.equal(none.isWhole, false);
  assert.deepEqual(none.of('edge-worker-1'), { http: [] });
});

async function hold({ port, ...options }: Partial<HeldSocketsOptions> & { readonly port?: number } = {}) {
  const address = { host: '127.0.0.1', port: port ?? (await freePort()) };
  const listeners = [{ name: 'http', key: 'edgeHttpListen', part: 'edge-worker', address } as const];
  return await HeldSockets.bind({ listeners, slots: SLOTS, inherited: new Map(), canBind: true, ...options });
}
