/** The first bytes that a TLS client sends. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';

export async function helloOf(options: ConnectionOptions): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const client = connect({ ...options, port, host: '127.0.0.1' });
  client.on('error', () => undefined); // nobody answers it
  // `as`: what the events carry.
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return bytes;
}
