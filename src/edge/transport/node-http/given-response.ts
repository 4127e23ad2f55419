/** An answer on a connection that node:http has given away for an upgrade: it may still be refused, or answered otherwise. */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The connection ends with it: node:http reads no further request from it. */
export function createGivenResponse(message: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(message);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  // What node:http does for connections that are still its own.
  socket.on('error', () => undefined); // shows as closed
  socket.on('timeout', () => socket.destroy());
  socket.on('drain', () => {
    if (response.writableNeedDrain) response.emit('drain');
  });
  response.once('finish', () => socket.destroySoon());
  // Readable without a byte: the client has ended its side, and so has left. What it sent before that stays unread.
  socket.on('readable', () => {
    if (socket.readableLength === 0) socket.destroy();
  });
  return response;
}
