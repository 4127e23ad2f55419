/** A way to a TCP listener on which every byte takes a time, as over a long distance: kernels often lack `netem`. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Bytes on their way in one direction; beyond it the sender is paused. */
const MAX_UNDER_WAY = 4 * 1024 * 1024;

export interface DelayedWay extends AsyncDisposable {
  readonly port: number;
}

/** Listens on loopback. A connection takes one round trip, and then each byte `delayMs` in either direction. */
export async function startDelayedWay(target: { readonly port: number }, delayMs: number): Promise<DelayedWay> {
  const later = createDelay(delayMs);
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (near) => {
    track(near);
    setTimeout(() => {
      if (near.destroyed) return;
      const far = track(connect({ port: target.port, host: '127.0.0.1', allowHalfOpen: true }));
      lead(near, far, later);
      lead(far, near, later);
      near.resume();
    }, delayMs * 2);
  });
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined); // shows as closed
    return socket.on('close', () => sockets.delete(socket));
  };
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    // `as`: a TCP server that listens has such an address.
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Later = (work: () => void) => void;

function lead(from: Socket, to: Socket, later: Later): void {
  let underWay = 0;
  from.on('data', (chunk) => {
    underWay += chunk.length;
    if (underWay > MAX_UNDER_WAY) from.pause();
    later(() => {
      underWay -= chunk.length;
      if (underWay <= MAX_UNDER_WAY && from.isPaused()) from.resume();
      to.write(chunk);
    });
  });
  from.on('end', () => later(() => to.end()));
  from.on('close', () => later(() => to.destroySoon()));
}

/** Runs work after a time that is the same for all, so that one timer and a queue are enough. */
function createDelay(delayMs: number): Later {
  const queue: { readonly at: number; readonly work: () => void }[] = [];
  let isWaiting = false;
  const wait = (): void => {
    const [first] = queue;
    isWaiting = first !== undefined;
    if (first !== undefined) setTimeout(run, Math.max(0, first.at - performance.now()));
  };
  const run = (): void => {
    const now = performance.now();
    const due = queue.findIndex(({ at }) => at > now);
    for (const { work } of queue.splice(0, due === -1 ? queue.length : due)) work();
    wait();
  };
  return (work) => {
    queue.push({ at: performance.now() + delayMs, work });
    if (!isWaiting) wait();
  };
}
