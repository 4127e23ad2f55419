/** The RTMP and RTMPS listeners and their connections, with limits and graceful shutdown. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import type { Registry } from 'prom-client';
import { createAddressSet } from '#lib/cidr.ts';
import { type ListenOptions, listen, stopListening } from '#lib/listen.ts';
import type { Logger } from '#lib/logger.ts';
import type { Timers } from '#lib/timers.ts';
import { RareLines } from '../rare-lines.ts';
import type { RtmpHooks } from './conversation.ts';
import { DEFAULT_RTMP_LIMITS, type RtmpLimits } from './limits.ts';
import { createRtmpMetrics } from './metrics.ts';
import { type ConnectionParts, RtmpServerConnection } from './rtmp-server-connection.ts';
import { createTlsStart, type SecureContexts, type TlsStart } from './tls.ts';
import { Waiting } from './waiting.ts';

type Place = Pick<ListenOptions, 'listen' | 'sockets'>;

export interface RtmpServerOptions {
  /** Absent if plain RTMP is off. */
  readonly plain?: Place | undefined;
  /** Absent if RTMPS is off. */
  readonly tls?: (Place & { readonly secureContexts: SecureContexts }) | undefined;
  readonly hooks: RtmpHooks;
  readonly limits?: Partial<RtmpLimits> | undefined;
  /** Proxies whose connections begin with a PROXY protocol header if `proxyProtocol` is `required`. */
  readonly trustedProxies: readonly string[];
  readonly proxyProtocol: 'off' | 'required';
  readonly timers: Timers;
  readonly log: Logger;
  readonly registry: Registry;
}

export interface RtmpServer extends AsyncDisposable {
  /** 0 if plain RTMP is off. */
  readonly port: number;
  /** 0 if RTMPS is off. */
  readonly tlsPort: number;
  /** Stops accepting. Connections go on; resolves when all have ended. */
  drain(): Promise<void>;
  /**
   * Stops accepting and closes waiting connections. Those that publish or play have `graceMs` to end by themselves or
   * by their owner. Resolves when all are closed.
   */
  close(graceMs: number): Promise<void>;
}

export async function startRtmpServer(options: RtmpServerOptions): Promise<RtmpServer> {
  const limits = { ...DEFAULT_RTMP_LIMITS, ...options.limits };
  const connections = new Set<RtmpServerConnection>();
  const metrics = createRtmpMetrics(options.registry, () => countRoles(connections));
  const parts: ConnectionParts = {
    ...options,
    limits,
    rareLines: new RareLines(options.log, () => options.timers.now()),
    randomBytes,
    waiting: new Waiting<RtmpServerConnection>(limits),
    trusted: createAddressSet(options.proxyProtocol === 'required' ? options.trustedProxies : []),
    onEnd: (end) => metrics.countEnd(end),
  };
  const accept = (raw: Socket, startTls: TlsStart | undefined): void => {
    const connection = new RtmpServerConnection(raw, parts, startTls);
    connections.add(connection);
    raw.once('close', () => connections.delete(connection));
    connection.begin();
  };
  const servers: Server[] = [];
  const open = async ({ listen: at, sockets }: Place, startTls: TlsStart | undefined): Promise<number> => {
    const server = createServer({ noDelay: true, keepAlive: true }, (raw) => accept(raw, startTls));
    server.maxConnections = limits.maxConnections;
    const { port, servers: opened } = await listen(server, {
      listen: at,
      sockets,
      reusePort: false,
      allowHalfOpen: false,
    });
    servers.push(...opened);
    return port;
  };
  let ended: Promise<void> | undefined;
  const drain = (): Promise<void> => {
    ended ??= stopListening(servers);
    return ended;
  };
  const close = async (graceMs: number): Promise<void> => {
    for (const connection of parts.waiting.items()) connection.end('stopping', 'the service stops');
    const timer = setTimeout(() => {
      for (const connection of connections) connection.end('stopping', 'the service stops');
    }, graceMs);
    await drain();
    clearTimeout(timer);
  };
  try {
    const port = options.plain === undefined ? 0 : await open(options.plain, undefined);
    const tlsPort = options.tls === undefined ? 0 : await open(options.tls, createTlsStart(options.tls.secureContexts));
    return { port, tlsPort, drain, close, [Symbol.asyncDispose]: () => close(0) };
  } catch (error) {
    await close(0);
    throw error;
  }
}

function countRoles(connections: ReadonlySet<RtmpServerConnection>): Record<RtmpServerConnection['role'], number> {
  const counts = { waiting: 0, publishing: 0, playing: 0 };
  for (const { role } of connections) counts[role]++;
  return counts;
}
