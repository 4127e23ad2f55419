/**
 * Plain HTTP on control's port where that speaks TLS. OpenSSL ends such a connection without a byte, so its first bytes are looked
 * at before: what does not begin like TLS is answered in clear.
 */
import type { Server, Socket } from 'node:net';

/** Limit for the first byte; the TLS server has its own limit for the rest. */
const FIRST_BYTE_MS = 10_000;

/**
 * Time in which a client may keep sending after the answer: closed with unread bytes, the connection would be reset,
 * and the answer lost.
 */
const LINGER_MS = 2_000;

/** `server` must not listen yet. `refuse` answers and ends our side of the connection. */
export function answerPlain(server: Server, refuse: (socket: Socket) => void): void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    socket.on('error', () => undefined); // shows as closed
    const cut = () => socket.destroy();
    socket.setTimeout(FIRST_BYTE_MS, cut).once('data', (chunk: Buffer) => {
      socket.pause().setTimeout(0, cut);
      if (isLetter(chunk[0])) return end(socket, refuse);
      socket.unshift(chunk); // to be read once more, by OpenSSL
      for (const listener of listeners) listener.call(server, socket);
    });
  });
}

function end(socket: Socket, refuse: (socket: Socket) => void): void {
  refuse(socket);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer)).resume();
}

/** A method begins with one, and no record of TLS. RFC 9110 §9.1, RFC 8446 §5.1 */
function isLetter(byte = 0): boolean {
  return /[A-Za-z]/.test(String.fromCharCode(byte));
}
