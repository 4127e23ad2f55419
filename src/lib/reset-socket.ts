/** Ends a connection by a reset. */
import type { Socket } from 'node:net';

/**
 * Ends a connection at once: what is queued is lost, and the peer gets a reset. Repeatable. `raw` is the TCP connection under
 * `socket`, or `socket` itself where there is no TLS.
 */
export function resetSocket(socket: Socket, raw: Socket): void {
  // libuv refuses to reset a connection whose FIN is on its way to the system (EINVAL), and Node would never close it.
  const isShuttingDown = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (isShuttingDown) raw.destroy();
  else if (!raw.destroyed) raw.resetAndDestroy();
}
