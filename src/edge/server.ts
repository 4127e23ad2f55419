/** The edge's listener, and the parts that a worker's requests share. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Registry } from 'prom-client';
import { isWebSocketHandshake } from '#http/web-socket.ts';
import { unmapAddress } from '#lib/cidr.ts';
import type { Clock } from '#lib/clock.ts';
import type { LocalTime } from '#lib/local-time.ts';
import type { Logger } from '#lib/logger.ts';
import { Lru } from '#lib/lru.ts';
import { formatLine } from '#logs/line.ts';
import type { AccessLog } from '#logs/spool.ts';
import type { SiteTable } from '#sites/table.ts';
import { describeRefusal } from './access-log.ts';
import { createFlights } from './collapse.ts';
import { type ClientConnections, createConnections } from './connection.ts';
import type { EdgeContext } from './context.ts';
import { createGivenResponse } from './given-response.ts';
import { handle } from './handle.ts';
import { createEdgeMetrics, type EdgeMetrics } from './metrics.ts';
import { createConnector } from './origin/connector.ts';
import { createOrigins, type OriginsOptions } from './origin/fetch.ts';
import type { Guard } from './origin/guard.ts';
import { createOriginHealth } from './origin/health.ts';
import { createOriginPools, MAX_POOL_CONNECTIONS } from './origin/pools.ts';
import { MAX_REQUEST_BODY_BYTES } from './origin/request-body.ts';
import { createResolver, type Resolve } from './origin/resolve.ts';
import { type Refusal, readParserError, sendRefusal } from './parser-error.ts';
import { createPrefetch, type Prefetch } from './prefetch.ts';
import { createRefreshes } from './refresh.ts';
import { createCompressions } from './respond/compressions.ts';
import { createLagBudget } from './respond/lag.ts';
import { createPins } from './respond/pins.ts';
import type { CacheStore } from './store/store.ts';
import { Viewer, type ViewerOptions } from './viewer.ts';
import { createWebSockets, MAX_WEB_SOCKETS } from './web-sockets.ts';

export interface EdgeOptions {
  readonly listen: { readonly host: string; readonly port: number };
  /** Several processes share the port, and the kernel spreads connections over them. */
  readonly reusePort: boolean;
  readonly sites: SiteTable;
  /** Not closed with the edge. */
  readonly store: CacheStore;
  /** What clients may leave untaken while bodies are stored, and again what they may keep of bodies that have left the store. */
  readonly maxLagBytes: number;
  readonly guard: Guard;
  readonly accessLog: Pick<AccessLog, 'write'>;
  /** Of the time in the log's lines. */
  readonly zone: LocalTime;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly limits?: Partial<EdgeLimits>;
  /** How origins' names are resolved; by the machine's hosts file and name servers when absent. */
  readonly resolve?: Resolve;
  /** Certificate authorities for origins instead of the system's, PEM. */
  readonly originCa?: string;
}

/** Milliseconds, bytes and counts. Edge rules 2 and 10 give the origins' three. */
interface EdgeLimits {
  readonly connectMs: number;
  /** For a connection to be free, where as many as may be are in use. */
  readonly originWaitMs: number;
  readonly maxOriginConnections: number;
  readonly firstByteMs: number;
  readonly originIdleMs: number;
  /** For a fetch that goes on for the store alone, beside what its length allows. */
  readonly unreadFetchMs: number;
  /** A client that neither sends its body nor reads its answer. */
  readonly clientIdleMs: number;
  readonly requestHeaderMs: number;
  /** A whole request, body included. */
  readonly requestMs: number;
  readonly keepAliveMs: number;
  readonly maxHeaderBytes: number;
  readonly maxRequestBodyBytes: number;
  /** The last one's answer ends it. */
  readonly maxRequestsPerConnection: number;
  readonly maxWebSockets: number;
  /** Without a byte either way. */
  readonly webSocketIdleMs: number;
  /** The same, after one end has ended its side. */
  readonly webSocketEndedMs: number;
}

const DEFAULT_LIMITS: EdgeLimits = {
  connectMs: 5_000,
  originWaitMs: 5_000,
  maxOriginConnections: MAX_POOL_CONNECTIONS,
  firstByteMs: 30_000,
  originIdleMs: 30_000,
  unreadFetchMs: 30_000,
  clientIdleMs: 60_000,
  requestHeaderMs: 15_000,
  requestMs: 600_000,
  keepAliveMs: 75_000,
  maxHeaderBytes: 32 * 1024,
  maxRequestBodyBytes: MAX_REQUEST_BODY_BYTES,
  // Long enough that a keep-alive client is not disturbed, short enough that no connection lives for ever.
  maxRequestsPerConnection: 10_000,
  maxWebSockets: MAX_WEB_SOCKETS,
  webSocketIdleMs: 600_000, // ends that have something to say or to ask do so more often
  webSocketEndedMs: 5_000,
};

/** Per worker; an idle one costs about 14 KB. */
const MAX_CONNECTIONS = 50_000;

/** An origin's failure of one kind is logged this often at most. */
const REPORT_MS = 60_000;
const MAX_REPORTED = 1_000;

export interface Edge extends AsyncDisposable {
  readonly port: number;
  readonly prefetch: Prefetch;
  /** Viewers' requests that are being served. */
  readonly underWay: number;
  /** Stops listening, lets requests finish for `graceMs`, then cuts what is left. */
  close(graceMs: number): Promise<void>;
}

export async function startEdge(options: EdgeOptions): Promise<Edge> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  let isClosing = false;
  const { edge, closeOrigins } = createContext(options, limits, () => isClosing);
  const connections = createConnections(limits.maxRequestsPerConnection);
  const server = createHttpServer(edge, limits, connections);
  const port = await listen(server, options);
  let closed: Promise<void> | undefined;
  const close = (graceMs: number) => {
    isClosing = true;
    closed ??= closeServer(server, connections, graceMs).then(closeOrigins);
    return closed;
  };
  return {
    port,
    prefetch: createPrefetch(edge),
    get underWay() {
      return connections.served;
    },
    close,
    [Symbol.asyncDispose]: () => close(0),
  };
}

function createContext(options: EdgeOptions, limits: EdgeLimits, isClosing: () => boolean) {
  const { sites, store, clock, log, registry, guard, accessLog, zone, originCa } = options;
  const webSockets = createWebSockets(limits.maxWebSockets, {
    idleMs: limits.webSocketIdleMs,
    stallMs: limits.clientIdleMs,
    endedMs: limits.webSocketEndedMs,
  });
  const metrics = createEdgeMetrics(registry, store, webSockets);
  const resolve = options.resolve ?? createResolver({ monotonic: () => performance.now() });
  const connect = createConnector({ guard, resolve, timeoutMs: limits.connectMs, ca: originCa });
  const pools = createOriginPools({
    connect,
    waitTimeoutMs: limits.originWaitMs,
    maxConnections: limits.maxOriginConnections,
    firstByteTimeoutMs: limits.firstByteMs,
    idleTimeoutMs: limits.originIdleMs,
  });
  const origins = createOrigins({
    pools,
    health: createOriginHealth(),
    clock,
    firstByteTimeoutMs: limits.firstByteMs,
    onFailure: reportFailures(options, metrics),
  });
  const lag = createLagBudget(options.maxLagBytes);
  const edge: EdgeContext = {
    sites,
    store,
    origins,
    refreshes: createRefreshes(),
    flights: createFlights(),
    compressions: createCompressions({ store, lag, metrics, log }),
    writeLog: (record) => accessLog.write(formatLine(record, zone)),
    metrics,
    clock,
    log,
    isClosing,
    lag,
    pins: createPins({ maxBytes: options.maxLagBytes, isCounted: store.isCounted ?? (() => true) }),
    webSockets,
    unreadFetchMs: limits.unreadFetchMs,
  };
  return { edge, closeOrigins: () => pools.close() };
}

/** All are counted; an origin that is down for an hour is not a log line per request. */
function reportFailures({ clock, log }: EdgeOptions, metrics: EdgeMetrics): OriginsOptions['onFailure'] {
  const reportedAt = new Lru<string, number>({ maxWeight: MAX_REPORTED });
  return (failure, origin, detail) => {
    metrics.countOriginFailure(failure);
    const key = `${failure} ${origin}`;
    const now = clock();
    if (Math.abs(now - (reportedAt.get(key) ?? Number.NEGATIVE_INFINITY)) < REPORT_MS) return;
    reportedAt.set(key, now);
    log.warn({ failure, origin, detail }, 'origin failed');
  };
}

function createHttpServer(edge: EdgeContext, limits: EdgeLimits, connections: ClientConnections): Server {
  const ignored = new WeakSet<IncomingMessage>();
  const server = createServer({
    insecureHTTPParser: false,
    requireHostHeader: false, // stage 1 asks for it, and its refusal is logged
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.requestHeaderMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.min(5_000, limits.requestHeaderMs),
    noDelay: true,
    shouldUpgradeCallback: (message) => {
      // Behind others node:http would take the connection from their answers.
      const isAlone = connections.underWay(message.socket).every(({ isFinished }) => isFinished);
      if (isAlone && isHandshake(message)) return true;
      ignored.add(message);
      return false; // a server may ignore it. RFC 9110 §7.8
    },
  });
  server.maxHeadersCount = 0; // the size is the limit: beyond a count Node would drop fields silently
  server.maxConnections = MAX_CONNECTIONS;
  const { clientIdleMs: idleTimeoutMs, maxRequestBodyBytes } = limits;
  const serve = (expectation: ViewerOptions['expectation']) => (message: IncomingMessage, response: ServerResponse) => {
    const { socket } = message;
    const viewer = new Viewer(message, response, { expectation, idleTimeoutMs, maxRequestBodyBytes });
    // Node's parser drops what came with an Upgrade, so what follows may be half a request.
    if (!connections.countRequest(socket) || ignored.has(message)) response.shouldKeepAlive = false;
    void connections.serveInTurn(socket, viewer, () => handle(viewer, edge)); // never rejects
  };
  server.on('request', serve('none'));
  server.on('checkContinue', serve('continue'));
  server.on('checkExpectation', serve('unknown'));
  server.on('upgrade', (message: IncomingMessage, duplex: Duplex, head: Buffer) => {
    const socket = socketOf(duplex);
    socket.unshift(head); // what came behind the request is the new protocol's
    const response = createGivenResponse(message, socket);
    const options = { expectation: 'none', upgrade: 'websocket', idleTimeoutMs, maxRequestBodyBytes } as const;
    const viewer = new Viewer(message, response, options);
    void connections.serveInTurn(socket, viewer, () => handle(viewer, edge)); // never rejects
  });
  // Without a listener Node would drop the connection without a word.
  server.on('connect', (_message: IncomingMessage, duplex: Duplex) => {
    const socket = socketOf(duplex);
    // Node has taken the connection from the answers before it: an answer to this one would land inside theirs.
    if (connections.underWay(socket).length > 0) socket.destroy();
    refuse(edge, socket, { status: 405, reason: 'method' });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, duplex: Duplex) => {
    const socket = socketOf(duplex);
    const refusal = readParserError(error);
    if (refusal === undefined || !socket.writable || socket.bytesRead === 0) return void socket.destroy();
    void refuseInTurn(edge, socket, refusal, connections.underWay(socket));
  });
  return server;
}

function isHandshake({ method = '', httpVersion, rawHeaders: headers }: IncomingMessage): boolean {
  return isWebSocketHandshake({ method, httpVersion, headers });
}

/** Answers go out in the order of the requests, so those under way on the connection come first. RFC 9112 §9.3.2 */
async function refuseInTurn(
  edge: EdgeContext,
  socket: Socket,
  refusal: Refusal,
  before: readonly Viewer[],
): Promise<void> {
  // What is wrong may lie in the framing or the body of the last one: then this is its answer, if it has none yet.
  const broken = before.find((viewer) => !viewer.isReceived);
  await Promise.all(before.filter((viewer) => viewer !== broken).map((viewer) => viewer.ended));
  if (broken === undefined) {
    if (socket.writable) refuse(edge, socket, refusal);
  } else if (broken.statusSent === 0) {
    broken.refuse(refusal, edge.clock());
  } else {
    await broken.ended;
    socket.destroy();
  }
}

function refuse({ clock, writeLog, metrics }: EdgeContext, socket: Socket, refusal: Refusal): void {
  const address = unmapAddress(socket.remoteAddress ?? '');
  const sentBytes = sendRefusal(socket, refusal, clock());
  metrics.countRequest({ status: 'ERROR', reason: refusal.reason }, refusal.status, sentBytes);
  writeLog(describeRefusal(address, refusal.status, sentBytes, clock()));
}

/** node:http types the sockets of its rarer events as streams; over TCP they are sockets. */
function socketOf(duplex: Duplex): Socket {
  if (duplex instanceof Socket) return duplex;
  throw new Error('the listener is on TCP');
}

async function listen(server: Server, { listen: { host, port }, reusePort }: EdgeOptions): Promise<number> {
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

async function closeServer(server: Server, connections: ClientConnections, graceMs: number): Promise<void> {
  const timer = setTimeout(() => {
    connections.cutAll();
    server.closeAllConnections();
  }, graceMs);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearTimeout(timer);
}
