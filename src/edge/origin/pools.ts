/**
 * Keep-alive connections to origins: one pool per site, scheme, address, port and server name, in a bounded number.
 * Requests wait for a connection in front of the pool, since undici's own queue has neither a bound nor a time limit.
 * docs/decisions/0161
 */
import { type Dispatcher, Pool } from 'undici';
import { Lru } from '#lib/lru.ts';
import type { Connect, Destination } from './connector.ts';
import { filterInterim } from './interim-filter.ts';
import { createOriginSlots, type OriginSlots } from './origin-slots.ts';
import type { ConnectionParts } from './own/connection.ts';
import { OwnPool } from './own/pool.ts';
import { MAX_ORIGIN_KEEP_ALIVE_MS, MAX_RESPONSE_HEAD_BYTES, ORIGIN_KEEP_ALIVE_MS } from './response-limits.ts';

export interface OriginPool {
  /** Slots: a request holds one from before it is sent until its response is over. */
  readonly slots: OriginSlots;
  /** Connections of our own client, for requests that are `isPlain`. */
  readonly own: OwnPool;
  /** Connections of undici, for all other requests. */
  readonly dispatcher: Dispatcher;
}

export interface OriginPools {
  /**
   * Returns the pool of a destination, without opening a connection. If there are too many pools, the least recently
   * used one is closed after its requests have finished. Pools are per site: bytes on one site's connection can never
   * be taken for the answer to another site's request.
   */
  get(siteId: number, destination: Destination): OriginPool;
  /**
   * Whether the connection that failed with this error had served a request before: the origin may just have closed it
   * while it was idle. RFC 9112 §9.3.1
   */
  isFromReusedConnection(error: Error): boolean;
  close(): Promise<void>;
}

export interface OriginPoolsOptions {
  readonly connect: Connect;
  readonly own: ConnectionParts;
  /** Limit of pools; an address counts once per site. */
  readonly maxPools: number;
  /** Limit of the wait for a slot. */
  readonly waitTimeoutMs: number;
  readonly maxConnections: number;
  /** Total time that an origin waits for a client before its connection may be taken back for others. */
  readonly slowMs: number;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /**
   * Age after which a connection takes no more requests, so that a name that has moved is looked up again.
   * docs/decisions/0136
   */
  readonly maxAgeMs: number;
}

export const MAX_POOLS = 1000;
/** Waiting requests per pool; a further one fails at once with `originBusy`. */
const MAX_WAITING = 1000;

export function createOriginPools(options: OriginPoolsOptions): OriginPools {
  const { connect, maxPools, waitTimeoutMs, maxConnections, slowMs, firstByteTimeoutMs, idleTimeoutMs, maxAgeMs } =
    options;
  const reused = new WeakSet<Error>();
  const keyOf = createPoolKeys();
  const pools = new Lru<string, OriginPool>({ maxWeight: maxPools, onEvict: (_key, pool) => void closeQuietly(pool) });
  const open = (destination: Destination): Pool => {
    const scheme = destination.serverName === undefined ? 'http' : 'https';
    const host = destination.host.includes(':') ? `[${destination.host}]` : destination.host;
    return new Pool(`${scheme}://${host}:${destination.port}`, {
      connections: maxConnections,
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: MAX_RESPONSE_HEAD_BYTES,
      headersTimeout: firstByteTimeoutMs,
      bodyTimeout: idleTimeoutMs,
      keepAliveTimeout: ORIGIN_KEEP_ALIVE_MS,
      keepAliveMaxTimeout: MAX_ORIGIN_KEEP_ALIVE_MS,
      clientTtl: maxAgeMs,
      connect: (_options, callback) => {
        connect(destination).then(
          (socket) => {
            // Registered before undici's own listener, so that the mark is set when the request is notified of the
            // error.
            socket.on('error', (error) => {
              if (socket.bytesRead > 0) reused.add(error);
            });
            callback(null, filterInterim(socket));
          },
          (error: Error) => callback(error, null),
        );
      },
    });
  };

  return {
    get: (siteId, destination) => {
      const key = keyOf(siteId, destination);
      const known = pools.get(key);
      if (known !== undefined) return known;
      const slots = createOriginSlots({
        max: maxConnections,
        maxWaiting: MAX_WAITING,
        timeoutMs: waitTimeoutMs,
        slowMs,
        monotonic: () => performance.now(),
      });
      const own = new OwnPool(destination, connect, options.own);
      const pool = { slots, own, dispatcher: open(destination) };
      pools.set(key, pool);
      return pool;
    },
    isFromReusedConnection: (error) => reused.has(error),
    close: async () => {
      const all = pools.values();
      pools.clear();
      for (const { own } of all) own.close();
      await Promise.all(all.map(({ dispatcher }) => dispatcher.destroy()));
    },
  };
}

/** Caches the key of each destination: a destination is described once and looked up many times. */
function createPoolKeys(): (siteId: number, destination: Destination) => string {
  const keys = new WeakMap<Destination, { readonly siteId: number; readonly key: string }>();
  return (siteId, destination) => {
    const known = keys.get(destination);
    if (known?.siteId === siteId) return known.key;
    const key = JSON.stringify([siteId, destination]);
    keys.set(destination, { siteId, key });
    return key;
  };
}

/** Closes a pool after its requests have finished; a failure to close is ignored. */
async function closeQuietly({ slots, own, dispatcher }: OriginPool): Promise<void> {
  await slots.idle();
  own.close();
  await dispatcher.close().catch(() => undefined);
}
