/** A way to a database server that a test can cut, freeze and mend. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** `target` and the answer's `url` are URLs of a database; the latter leads through the relay. */
export async function startRelay(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isCut = false;
  let isFrozen = false;
  let isPaused = false;
  let swallowedBytes = 0;
  let lastWord: string | undefined;
  const server = createServer((near) => {
    if (isCut) return near.destroy();
    const far = connect(Number(port), hostname);
    let hasSaid = false;
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      if (isPaused) socket.pause();
      socket.on('data', (chunk) => {
        if (isFrozen) swallowedBytes += chunk.length;
        else if (socket === far && hasSaid) near.destroy();
        else other.write(chunk);
        hasSaid ||= socket === near && lastWord !== undefined && chunk.includes(lastWord);
      });
      socket.on('end', () => other.end());
      // Cutting is the purpose.
      socket.on('error', () => undefined);
      socket.on('close', () => other.destroy());
    }
    return undefined;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // `as`: a TCP server that listens has such an address.
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    get isCut() {
      return isCut;
    },
    /** Somebody has connected. */
    get isUsed() {
      return sockets.size > 0;
    },
    /** While it was frozen. */
    get swallowedBytes() {
      return swallowedBytes;
    },
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    /** Connections are taken and stay, and everything that is sent is swallowed. */
    freeze() {
      isFrozen = true;
    },
    /** The server hears this, and its answer is lost with the connection. */
    loseAnswersTo(word: string) {
      lastWord = word;
    },
    /** The server stands still: what is sent reaches it when it goes on. */
    pause() {
      isPaused = true;
      for (const socket of sockets) socket.pause();
    },
    mend() {
      isCut = false;
      isFrozen = false;
      isPaused = false;
      lastWord = undefined;
      for (const socket of sockets) socket.resume();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
