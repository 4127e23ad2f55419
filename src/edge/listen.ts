/** A listener begins and ends. */
import type { Server } from 'node:net';

export interface ListenOptions {
  readonly listen: { readonly host: string; readonly port: number };
  /** Several processes share the port, and the kernel spreads connections over them. */
  readonly reusePort: boolean;
}

/** Gives the port. */
export async function listen(server: Server, { listen: { host, port }, reusePort }: ListenOptions): Promise<number> {
  try {
    return await listenOn(server, host, port, reusePort);
  } catch (error) {
    // A machine without IPv6: all of IPv4 is what remains of "every address".
    if (host !== '::' || !isMissingFamily(error)) throw error;
    return await listenOn(server, '0.0.0.0', port, reusePort);
  }
}

function listenOn(server: Server, host: string, port: number, reusePort: boolean): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', reject);
  server.listen({ host, port, reusePort, backlog: 1024 }, () => {
    server.off('error', reject);
    const address = server.address();
    resolve(typeof address === 'object' && address !== null ? address.port : port);
  });
  return promise;
}

function isMissingFamily(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL';
}

/** Lets connections end by themselves for `graceMs`; then `cut` ends what is left. */
export async function closeServers(servers: readonly Server[], graceMs: number, cut: () => void): Promise<void> {
  const timer = setTimeout(cut, graceMs);
  await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
  clearTimeout(timer);
}
