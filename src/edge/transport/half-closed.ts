/** A client that has ended its side may still read, or be gone. It is taken for gone when nothing was sent to it for `limitMs`. docs/decisions/0325 */
import type { Socket } from 'node:net';

/**
 * Watches until `ended` resolves or the connection is closed. Bytes sent to a client that is gone make its system reset
 * the connection.
 */
export function watchHalfClosed(socket: Socket, ended: Promise<void>, limitMs: number): void {
  let sentBytes = socket.bytesWritten;
  const timer = setInterval(() => {
    // What a client has not taken yet has a limit of its own.
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
