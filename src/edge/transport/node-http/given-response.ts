/**
 * A response on a connection that node:http has released for an upgrade, which may still be refused or answered
 * normally.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The connection ends with the response, as node:http reads no further request from it. */
export function createGivenResponse(message: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(message);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  // As node:http does for its own connections.
  socket.on('error', () => undefined); // followed by `close`
  socket.on('timeout', () => socket.destroy());
  socket.on('drain', () => {
    if (response.writableNeedDrain) response.emit('drain');
  });
  response.once('finish', () => socket.destroySoon());
  // Readable without bytes means that the client has ended its side and left. Bytes that it sent before stay unread.
  socket.on('readable', () => {
    if (socket.readableLength === 0) socket.destroy();
  });
  return response;
}
