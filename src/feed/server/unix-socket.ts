/** Listens on a unix socket that only this user can reach, even if a killed process left its socket behind. */
import { once } from 'node:events';
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Time for a process of a killed service to end: it answers until it notices. */
const LEFTOVER_MS = 5000;
const PAUSE_MS = 100;

/** Throws if another process goes on answering there, or if the path is not a socket. */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) {
    if (!stats.isSocket()) throw new Error(`${path} exists and is not a socket`);
    const until = performance.now() + LEFTOVER_MS;
    while (await isAnswered(path)) {
      if (performance.now() >= until) throw new Error(`another process listens on ${path}`);
      await delay(PAUSE_MS);
    }
    rmSync(path, { force: true }); // one that ends removes it itself
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
