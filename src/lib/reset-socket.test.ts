import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { createAuthority } from '../../test/support/certificates/certificate.ts';
import { needs } from '../../test/support/runner/needs.ts';
import { resetSocket } from './reset-socket.ts';

const LARGE = Buffer.alloc(4 * 1024 * 1024);

for (const [what, prepare] of [
  ['idle', () => {}],
  ['ended in the same turn', (socket) => socket.end()],
  ['ended in the same turn behind its last bytes', (socket) => socket.end('last')],
  ['ended behind bytes that the peer does not read', (socket) => socket.end(LARGE)],
  ['ended in an earlier turn', (socket) => once(socket.end(), 'finish')],
  ['destroyed already', (socket) => void socket.destroy()],
] satisfies readonly (readonly [string, (socket: Socket) => unknown])[]) {
  test(`a connection that is ${what} is closed at both ends`, async (t) => {
    const { socket, peer } = await connectPair(t);
    const closed = Promise.all([socket, peer].map((each) => new Promise((resolve) => each.once('close', resolve))));
    const waiting = prepare(socket);
    if (waiting instanceof Promise) await waiting;
    resetSocket(socket, socket);
    resetSocket(socket, socket);
    peer.resume();
    await closed;
  });
}

test('a TLS connection that is ended in the same turn is closed at both ends', needs('openssl'), async (t) => {
  const authority = createAuthority(t);
  const { key, cert } = authority.issue(['a.test']);
  const { socket: raw, peer: rawPeer } = await connectPair(t);
  const socket = new TLSSocket(raw, { isServer: true, key, cert });
  const peer = connectTls({ socket: rawPeer, ca: authority.ca, servername: 'a.test' });
  for (const each of [socket, peer]) each.on('error', () => {});
  await once(peer, 'secureConnect');
  const closed = Promise.all([raw, rawPeer].map((each) => new Promise((resolve) => each.once('close', resolve))));
  socket.end('last');
  resetSocket(socket, raw);
  peer.resume();
  await closed;
});

test('the peer of an open connection gets a reset', async (t) => {
  const { socket, peer } = await connectPair(t);
  const failed = once(peer, 'error');
  peer.resume();
  resetSocket(socket, socket);
  const [error] = await failed;
  assert.equal(error.code, 'ECONNRESET');
});

async function connectPair(t: TestContext): Promise<{ socket: Socket; peer: Socket }> {
  const server = createServer({ allowHalfOpen: true });
  t.after(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const peer = connect(address.port, '127.0.0.1');
  const [[socket]] = await Promise.all([once(server, 'connection'), once(peer, 'connect')]);
  for (const each of [socket, peer]) {
    each.on('error', () => {});
    t.after(() => void each.destroy());
  }
  return { socket, peer };
}
