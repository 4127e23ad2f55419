/** Listens on a unix socket that only this user can reach, even if a killed process left its socket behind. */
import { once } from 'node:events';
import { chmodSync, lstatSync, mkdirSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname } from 'node:path';

/** Throws if another process answers there, or if the path is not a socket. */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) {
    if (!stats.isSocket()) throw new Error(`${path} exists and is not a socket`);
    if (await isAnswered(path)) throw new Error(`another process listens on ${path}`);
    unlinkSync(path);
  }
  server.listen(path);
  await once(server, 'listening');
  chmodSync(path, 0o600);
}

async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false; // no process accepts: left behind
  } finally {
    socket.destroy();
  }
}
