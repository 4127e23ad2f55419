/**
 * Lingering close. If a connection were closed with unread input, the system would reset it, and the client could lose
 * answers that it has not read yet. RFC 9112 §9.6
 */
import type { Socket } from 'node:net';

/** How long input is still read and discarded after we ended our side. */
export const LINGER_MS = 5_000;

/**
 * Makes `destroySoon` of a node:http socket linger: pending output is sent, and input is discarded until the client
 * ends its side. `idleMs`: limit for a client that takes nothing.
 */
export function lingerAtEnd(socket: Socket, idleMs: number): void {
  let isEnding = false;
  socket.destroySoon = () => {
    if (isEnding) return;
    isEnding = true;
    // Detaches the parser, so that it sees no further bytes and cannot pause the socket.
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
