/** The transport over real connections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { attach } from './socket.ts';

test('a connection that is held is not read, also once its writes have drained', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const accepted: Promise<Socket[]> = once(server, 'connection');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => socket.destroy());
  const [peer] = await accepted;
  assert.ok(peer !== undefined);
  t.after(() => peer.destroy());
  const received: Buffer[] = [];
  const transport = attach(socket, { received: (octets) => void received.push(octets), closed: () => {} });

  transport.hold(true);
  peer.write('later');
  const drained = once(socket, 'drain');
  // More than the other side reads at once.
  transport.write(Buffer.alloc(16 * 1024 * 1024));
  peer.resume();
  await drained;
  assert.ok(socket.isPaused());
  assert.deepEqual(received, []);

  transport.hold(false);
  await eventually('it is read on', () => Buffer.concat(received).toString() === 'later');
});
