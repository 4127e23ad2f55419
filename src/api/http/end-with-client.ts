/** The end of an answer that goes on: a client that ends its side is gone, and node:http would go on until it cannot write. */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

export function endWithClient(socket: Socket, body: Readable): void {
  const onEnd = () => void body.destroy();
  socket.once('end', onEnd);
  body.once('close', () => socket.off('end', onEnd));
}
