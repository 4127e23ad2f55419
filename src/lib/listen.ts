/** Opens and closes listeners. A listener is several sockets: docs/decisions/0300 */
import { createServer, type Server, type Socket } from 'node:net';

export interface ListenOptions {
  readonly listen: { readonly host: string; readonly port: number };
  /** Several processes share the port, and the kernel spreads connections over them. */
  readonly reusePort: boolean;
}

export interface Listener {
  readonly port: number;
  /** All must be closed. The first one emits the connections. */
  readonly servers: readonly Server[];
}

/** Listening sockets per port: in each turn of the event loop libuv accepts one connection from each. */
const DOORS = 32;

/**
 * Listens on several sockets that pass their connections to `server`; its `maxConnections` is spread over them.
 * `allowHalfOpen` must be as in `server`.
 */
export async function listen(
  server: Server,
  { listen: { host, port }, reusePort, allowHalfOpen }: ListenOptions & { readonly allowHalfOpen: boolean },
): Promise<Listener> {
  const listenAt = (address: string) => listenOn(server, { host: address, port, reusePort }, allowHalfOpen);
  try {
    return await listenAt(host);
  } catch (error) {
    // On a machine without IPv6, "every address" means all of IPv4.
    if (host !== '::' || !isMissingFamily(error)) throw error;
    return await listenAt('0.0.0.0');
  }
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
}

async function listenOn(server: Server, place: Place, allowHalfOpen: boolean): Promise<Listener> {
  const port = await openFirst(server, place);
  if (port === undefined) return { port: await open(server, place), servers: [server] };
  const pass = (socket: Socket) => void server.emit('connection', socket);
  const others = Array.from({ length: DOORS - 1 }, () => createServer({ noDelay: true, allowHalfOpen }, pass));
  const servers = [server, ...others];
  const { maxConnections } = server;
  for (const one of servers) one.maxConnections = Math.ceil(maxConnections / DOORS);
  await Promise.all(others.map((other) => open(other, { ...place, port, reusePort: true })));
  return { port, servers };
}

/**
 * Opens the first socket so that others can share its port, which is returned; `undefined` if this system cannot do
 * that.
 */
async function openFirst(server: Server, place: Place): Promise<number | undefined> {
  if (place.reusePort) return await open(server, place);
  // A shared port could also belong to another program that shares it.
  if (place.port !== 0) await probe(place);
  return await open(server, { ...place, reusePort: true }).catch(() => undefined);
}

/** Throws if the port cannot be bound exclusively. */
async function probe(place: Place): Promise<void> {
  const server = createServer();
  await open(server, place);
  await close(server);
}

/** Returns the port. */
function open(server: Server, place: Place): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', reject);
  server.listen({ ...place, backlog: 1024 }, () => {
    server.off('error', reject);
    const address = server.address();
    resolve(typeof address === 'object' && address !== null ? address.port : place.port);
  });
  return promise;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function isMissingFamily(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL';
}

/** Lets connections end by themselves for `graceMs`; then `cut` ends what is left. */
export async function closeServers(servers: readonly Server[], graceMs: number, cut: () => void): Promise<void> {
  const timer = setTimeout(cut, graceMs);
  await Promise.all(servers.map(close));
  clearTimeout(timer);
}
