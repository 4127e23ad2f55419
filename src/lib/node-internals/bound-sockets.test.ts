import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { type BoundSocket, bindSocket, canBindSockets } from './bound-sockets.ts';

test('the pinned Node binds sockets without listening', () => {
  assert.equal(canBindSockets(), true);
});

test('bound sockets of one port refuse connections until a server listens on one', async (t) => {
  const [first, second] = [bind(t, '127.0.0.1', 0), bind(t, '127.0.0.1', 0)];
  assert.notEqual(first.port, second.port);
  const shared = bind(t, '127.0.0.1', first.port);
  assert.equal(shared.port, first.port);
  assert.notEqual(shared.descriptor, first.descriptor);
  const refused = connect(first.port, '127.0.0.1');
  const [error] = await once(refused, 'error');
  assert.equal(error.code, 'ECONNREFUSED');

  const server = createServer((socket) => socket.end('served'));
  server.listen({ fd: shared.descriptor });
  await once(server, 'listening');
  const client = connect(first.port, '127.0.0.1').setEncoding('utf8');
  assert.deepEqual(await once(client, 'data'), ['served']);
  client.destroy();
  server.close();
});

test('an address in use, or of another machine, is not bound', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const taken = server.address();
  assert.ok(typeof taken === 'object' && taken !== null);
  assert.equal(bindSocket('127.0.0.1', taken.port), undefined);
  assert.equal(bindSocket('192.0.2.1', 0), undefined);
  assert.equal(bindSocket('2001:db8::1', 0), undefined);
});

function bind(t: { after(clean: () => void): void }, host: string, port: number): BoundSocket {
  const socket = bindSocket(host, port) ?? assert.fail(`cannot bind ${host}:${port}`);
  t.after(() => socket[Symbol.dispose]());
  return socket;
}
