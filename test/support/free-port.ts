/** Ports for what cannot listen on one of the kernel's choice: a program that reads its port from a file, or an address that has to be known first. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A port that was free a moment ago, below the range from which the kernel takes ports by itself. Its caller listens later, so
 * each process takes ports of its own, one after the other, and no other test's.
 */
export const freePort = portsOf(process.pid);

const PORTS_OF_A_PROCESS = 40;

function portsOf(pid: number): () => Promise<number> {
  let taken = 0;
  return async () => {
    for (;;) {
      const port = 20_000 + ((pid * PORTS_OF_A_PROCESS + (taken++ % PORTS_OF_A_PROCESS)) % 10_000);
      const server = createServer().listen(port, '127.0.0.1');
      const isFree = await once(server, 'listening').then(
        () => true,
        () => false,
      );
      server.close();
      if (isFree) return port;
    }
  };
}
