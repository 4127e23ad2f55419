/** Keep-alive connections to origins: one undici pool per scheme, address, port and server name, in a bounded number. */
import { type Dispatcher, Pool } from 'undici';
import { Lru } from '#lib/lru.ts';
import type { Connect, Destination } from './connector.ts';

export interface OriginPools {
  /** Opens no connection yet. The pool used longest ago is closed when there are too many; its requests finish. */
  get(destination: Destination): Dispatcher;
  /**
   * True when the connection that failed with this error had served a request before: then the origin may just have
   * closed it while it was idle. RFC 9112 §9.3.1
   */
  isFromReusedConnection(error: Error): boolean;
  close(): Promise<void>;
}

export interface OriginPoolsOptions {
  readonly connect: Connect;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

const MAX_POOLS = 1000;
/** Per pool and worker; further requests wait for a free connection. */
const MAX_CONNECTIONS = 256;
/** What llhttp gathers of a response head before it is refused. */
const MAX_RESPONSE_HEADER_BYTES = 32 * 1024;
/** Below the 5 s after which Node and Apache close an idle connection; an origin's `Keep-Alive` hint may raise it. */
const KEEP_ALIVE_MS = 4_000;
const MAX_KEEP_ALIVE_MS = 60_000;

export function createOriginPools({ connect, firstByteTimeoutMs, idleTimeoutMs }: OriginPoolsOptions): OriginPools {
  const reused = new WeakSet<Error>();
  const pools = new Lru<string, Pool>({ maxWeight: MAX_POOLS, onEvict: (_key, pool) => void closeQuietly(pool) });

  const open = (destination: Destination): Pool => {
    const scheme = destination.serverName === undefined ? 'http' : 'https';
    const host = destination.host.includes(':') ? `[${destination.host}]` : destination.host;
    return new Pool(`${scheme}://${host}:${destination.port}`, {
      connections: MAX_CONNECTIONS,
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
      headersTimeout: firstByteTimeoutMs,
      bodyTimeout: idleTimeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
      connect: (_options, callback) => {
        connect(destination).then(
          (socket) => {
            // Before undici's own listener, so that the mark is there when the request hears of the error.
            socket.on('error', (error) => {
              if (socket.bytesRead > 0) reused.add(error);
            });
            callback(null, socket);
          },
          (error: Error) => callback(error, null),
        );
      },
    });
  };

  return {
    get: (destination) => {
      const key = JSON.stringify(destination);
      const known = pools.get(key);
      if (known !== undefined) return known;
      const pool = open(destination);
      pools.set(key, pool);
      return pool;
    },
    isFromReusedConnection: (error) => reused.has(error),
    close: async () => {
      const all = pools.values();
      pools.clear();
      await Promise.all(all.map((pool) => pool.destroy()));
    },
  };
}

/** The requests under way end by themselves; a failure to close has nobody to tell. */
async function closeQuietly(pool: Pool): Promise<void> {
  await pool.close().catch(() => undefined);
}
