/**
 * The end of a connection whose client may be sending still: were it closed with something unread, the system would
 * reset it, and take from the client what it has not read of our last answers. RFC 9112 §9.6
 */
import type { Socket } from 'node:net';

/** How long we read on from a client that keeps sending after our end of the connection. */
export const LINGER_MS = 5_000;

/**
 * Changes how `destroySoon` ends a connection of node:http: what was written goes out, and what still comes is read and
 * forgotten until the client ends its side too. `idleMs`: for a client that takes nothing.
 */
export function lingerAtEnd(socket: Socket, idleMs: number): void {
  let isEnding = false;
  socket.destroySoon = () => {
    if (isEnding) return;
    isEnding = true;
    // From here on no parser sees the bytes, and nothing pauses the socket.
    socket.removeAllListeners('data').removeAllListeners('resume').on('data', forget);
    socket.setTimeout(idleMs);
    if (socket.writable) socket.end();
    if (socket.writableFinished) linger(socket);
    else socket.once('finish', () => linger(socket));
    socket.resume();
  };
}

function linger(socket: Socket): void {
  if (socket.readableEnded) return void socket.destroy();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('end', () => socket.destroy()).once('close', () => clearTimeout(timer));
}

function forget(): void {}
