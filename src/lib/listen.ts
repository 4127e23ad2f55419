/** Opens and closes listeners. A listener is several sockets: docs/decisions/0300 */
import { createServer, Server, type Socket } from 'node:net';

export interface ListenOptions {
  readonly listen: { readonly host: string; readonly port: number };
  /** Several processes share the port, and the kernel spreads connections over them. */
  readonly reusePort: boolean;
  /** Descriptors of sockets that are bound to the address already; absent or empty: binds it. docs/decisions/0570 */
  readonly sockets?: readonly number[] | undefined;
}

export interface Listener {
  readonly port: number;
  /** All must be closed. The first one emits the connections. */
  readonly servers: readonly Server[];
}

/** Listening sockets per port: in each turn of the event loop libuv accepts one connection from each. */
export const DOORS = 32;
/** Connections that wait in one socket. */
const BACKLOG = 1024;

/**
 * Listens on several sockets that pass their connections to `server`; its `maxConnections` is spread over them.
 * `allowHalfOpen` must be as in `server`.
 */
export async function listen(
  server: Server,
  {
    listen: { host, port },
    reusePort,
    sockets = [],
    allowHalfOpen,
  }: ListenOptions & { readonly allowHalfOpen: boolean },
): Promise<Listener> {
  if (sockets.length > 0) return await listenOnBound(server, sockets, allowHalfOpen);
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
  const others = createDoors(server, DOORS - 1, allowHalfOpen);
  await Promise.all(others.map((other) => open(other, { ...place, port, reusePort: true })));
  return { port, servers: [server, ...others] };
}

async function listenOnBound(server: Server, sockets: readonly number[], allowHalfOpen: boolean): Promise<Listener> {
  const servers = [server, ...createDoors(server, sockets.length - 1, allowHalfOpen)];
  const [port = 0] = await Promise.all(servers.map((one, index) => open(one, { fd: sockets[index] ?? -1 })));
  return { port, servers };
}

/** Creates servers that pass their connections to `server` and share its `maxConnections`. */
function createDoors(server: Server, count: number, allowHalfOpen: boolean): readonly Server[] {
  const pass = (socket: Socket) => void server.emit('connection', socket);
  const others = Array.from({ length: count }, () => createServer({ noDelay: true, allowHalfOpen }, pass));
  const { maxConnections } = server;
  for (const one of [server, ...others]) one.maxConnections = Math.ceil(maxConnections / (count + 1));
  return others;
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

/** Returns the port. `fd`: descriptor of a bound socket. */
function open(server: Server, place: Place | { readonly fd: number }): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', reject);
  const onListening = () => {
    server.off('error', reject);
    const address = server.address();
    resolve(typeof address === 'object' && address !== null ? address.port : 0);
  };
  // For a descriptor, Node takes the backlog from its own argument only.
  if ('fd' in place) server.listen(place, BACKLOG, onListening);
  else server.listen({ ...place, backlog: BACKLOG }, onListening);
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
  await stopListening(servers);
  clearTimeout(timer);
}

/** Accepts no more connections. Resolves when all have ended; idle connections of node:http stay open. */
export async function stopListening(servers: readonly Server[]): Promise<void> {
  // node:http's own method would end its idle connections, too.
  const stop = (server: Server) =>
    new Promise<void>((resolve) => Reflect.apply(Server.prototype.close, server, [() => resolve()]));
  await Promise.all(servers.map(stop));
}
