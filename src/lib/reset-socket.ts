/** Ends a connection by a reset. */
import type { Socket } from 'node:net';

/**
 * Ends a connection at once: queued bytes are lost, and the peer gets a reset. Idempotent. `raw` is the TCP connection
 * below `socket`, or `socket` itself without TLS.
 */
export function resetSocket(socket: Socket, raw: Socket): void {
  // libuv refuses to reset a connection that is shutting down (EINVAL), and Node would never close it.
  const isShuttingDown = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (isShuttingDown) raw.destroy();
  else if (!raw.destroyed) raw.resetAndDestroy();
}
