/** Provides a socket's handle for feature tests. */
import { Socket } from 'node:net';

/** Returns the handle of a TCP socket that connects to nothing; `undefined` if Node keeps it elsewhere. */
export function handleOfNewSocket(): unknown {
  const socket = new Socket();
  // Its address is never found, so nothing is sent.
  socket.connect({ host: 'nowhere.invalid', port: 1, lookup: () => {} });
  const handle: unknown = Reflect.get(socket, '_handle');
  socket.destroy();
  return handle;
}
