/**
 * Detects clients that have half-closed their connection and are gone: such a client may still be reading. It counts as
 * gone once nothing was sent to it for `limitMs`. docs/decisions/0325
 */
import type { Socket } from 'node:net';

/**
 * Destroys the socket when such a client is gone. Watches until `ended` resolves or the connection is closed. Sending
 * to a client that is gone makes its system reset the connection.
 */
export function watchHalfClosed(socket: Socket, ended: Promise<void>, limitMs: number): void {
  let sentBytes = socket.bytesWritten;
  const timer = setInterval(() => {
    // Untaken bytes have a time limit of their own.
    if (socket.bytesWritten === sentBytes && socket.writableLength === 0) socket.destroy();
    sentBytes = socket.bytesWritten;
  }, limitMs);
  const stop = () => {
    clearInterval(timer);
    socket.off('close', stop);
  };
  socket.once('close', stop);
  void ended.then(stop);
}
