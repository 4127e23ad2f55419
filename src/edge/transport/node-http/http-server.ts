/**
 * Serves HTTP/1 connections over TCP or TLS. Our own reader comes first; connections that it cannot continue move to
 * node:http, whose requests are served in turn. Input that is not a request is refused.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { RequestLines } from '#http/request-lines.ts';
import { isWebSocketHandshake } from '#http/web-socket.ts';
import { createHttpReader, type HttpReader } from '#lib/node-internals/http-reader.ts';
import type { Refusal } from '../../early-refusal.ts';
import { concludeUnserved, handle } from '../../pipeline/handle.ts';
import { describeRefusal, type Refused } from '../../stages/access-log.ts';
import { findNamedSite } from '../../stages/named-site.ts';
import { watchHalfClosed } from '../half-closed.ts';
import { createHttp1Connections, type Http1Connections } from '../http1/http1-connections.ts';
import { lingerAtEnd } from '../linger.ts';
import type { ServerParts } from '../server-parts.ts';
import { createGivenResponse } from './given-response.ts';
import { Http1Viewer } from './http1-viewer.ts';
import { readParserError, sendRefusal } from './parser-error.ts';

/** Connections per worker; an idle one costs about 14 KB. */
const MAX_CONNECTIONS = 50_000;

/**
 * `take` serves a connection, including one that another listener accepted. `close` and `cutAll` do not affect
 * connections that were handed to node:http: `server` owns those.
 */
export interface HttpServer extends Http1Connections {
  readonly server: Server;
  /** Answers plain HTTP on the port for HTTPS, and ends the connection. */
  refusePlain(socket: Socket): void;
}

export function createHttpServer(parts: ServerParts): HttpServer {
  const { edge, limits, connections, proxies } = parts;
  const ignored = new WeakSet<IncomingMessage>();
  const lines = new WeakMap<Socket, RequestLines>();
  const server = createServer({
    insecureHTTPParser: false,
    requireHostHeader: false, // stage 1 requires it, and logs the refusal
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.requestHeaderMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.min(5_000, limits.requestHeaderMs),
    noDelay: true,
    shouldUpgradeCallback: (message) => {
      // After an accepted upgrade node:http detaches the socket, so responses still pending on it would be lost. A
      // client that has half-closed its side cannot use a tunnel.
      const isAlone = connections.underWay(message.socket).every(({ isFinished }) => isFinished);
      if (isAlone && !message.socket.readableEnded && isHandshake(message)) return true;
      ignored.add(message);
      return false; // a server may ignore an upgrade. RFC 9110 §7.8
    },
  });
  server.maxHeadersCount = 0; // only the size is limited: beyond a count Node would drop fields silently
  server.maxConnections = MAX_CONNECTIONS;
  const openViewer = (message: IncomingMessage, response: ServerResponse, upgrade?: 'websocket') =>
    new Http1Viewer(message, response, {
      line: lines.get(message.socket)?.next(),
      client: proxies.clientOf(message.socket, message.rawHeaders),
      secured: connections.securedOf(message.socket),
      upgrade,
      idleTimeoutMs: limits.clientIdleMs,
      maxRequestBodyBytes: limits.maxRequestBodyBytes,
    });
  const serveInTurn = (socket: Socket, viewer: Http1Viewer) =>
    connections.serveInTurn(socket, {
      viewer,
      serve: async () => {
        await handle(viewer, edge);
        // The response promised keep-alive before the server began to close.
        if (edge.isClosing() && connections.underWay(socket).every(({ isFinished }) => isFinished))
          socket.destroySoon();
      },
      leave: (cutStatus) => concludeUnserved(viewer, edge, cutStatus),
    });
  const serve = (message: IncomingMessage, response: ServerResponse) => {
    const { socket } = message;
    const place = connections.countRequest(socket);
    if (place === 'none') return;
    // Node's parser drops bytes that arrived with an Upgrade, so the next bytes may begin in the middle of a request.
    if (place === 'last' || ignored.has(message)) response.shouldKeepAlive = false;
    serveInTurn(socket, openViewer(message, response));
  };
  // The Expect field is handled in the pipeline, alike for all HTTP versions.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, serve);
  server.on('upgrade', (message: IncomingMessage, duplex: Duplex, head: Buffer) => {
    const socket = socketOf(duplex);
    socket.unshift(head); // bytes after the request belong to the new protocol
    const response = createGivenResponse(message, socket);
    serveInTurn(socket, openViewer(message, response, 'websocket'));
  });
  answerBroken(server, parts);
  const bare = createHttp1Connections(parts, reader(server, parts, lines));
  server.removeAllListeners('connection').on('connection', bare.take);
  proxies.standBefore(server);
  const drain = (idleMs: number) => {
    bare.drain(idleMs);
    server.keepAliveTimeout = Math.min(limits.keepAliveMs, idleMs); // of connections that become idle from now on
    setTimeout(() => server.closeIdleConnections(), idleMs).unref();
  };
  return { server, refusePlain: (socket) => refusePlain(parts, socket), ...bare, drain };
}

function refusePlain(parts: ServerParts, socket: Socket): void {
  lingerAtEnd(socket, parts.limits.clientIdleMs);
  refuse(parts, socket, { status: 400, reason: 'plainHttp', explanation: PLAIN_HTTP });
}

const PLAIN_HTTP = 'This port accepts HTTPS only, but the request used plain HTTP. Use an https:// URL.';

/**
 * Creates the reader for connections that move to node:http. Must be called before the listeners of `server` are
 * removed.
 */
function reader(
  server: Server,
  { limits, connections }: ServerParts,
  lines: WeakMap<Socket, RequestLines>,
): HttpReader {
  const readOn = createHttpReader(server, {
    untilEnd: (socket) => untilAnswered(socket, connections.underWay(socket), limits.halfClosedMs),
    openFilter: (socket) => {
      const own = new RequestLines();
      lines.set(socket, own);
      return (bytes) => own.take(bytes);
    },
  });
  return (socket, rest) => {
    lingerAtEnd(socket, limits.clientIdleMs);
    readOn(socket, rest);
  };
}

/**
 * Waits until requests that arrived completely before the client half-closed are answered. Does nothing if a request is
 * incomplete: the end of input is then its error.
 */
async function untilAnswered(socket: Socket, asked: readonly Http1Viewer[], limitMs: number): Promise<void> {
  if (asked.length === 0 || !asked.every(({ isReceived }) => isReceived)) return;
  const ended = Promise.all(asked.map((viewer) => viewer.ended)).then(() => undefined);
  watchHalfClosed(socket, ended, limitMs);
  await ended;
}

/** Handles input that is not a request, and CONNECT, which only an origin could accept. */
function answerBroken(server: Server, parts: ServerParts): void {
  const { connections, proxies } = parts;
  // Without a listener Node would close the connection silently.
  server.on('connect', (message: IncomingMessage, duplex: Duplex) => {
    const socket = socketOf(duplex);
    // Node has removed its own listener, and an unhandled error event would end the process.
    socket.on('error', () => undefined);
    // Node has also detached pending answers, so a refusal now would land inside one of them.
    if (connections.underWay(socket).length > 0) socket.destroy();
    refuse(parts, socket, { status: 405, reason: 'method' }, message);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, duplex: Duplex) => {
    const socket = socketOf(duplex);
    if (socket.writableEnded) return; // its last answer was sent
    const refusal = readParserError(error);
    const hasBegun = socket.bytesRead > proxies.headerBytesOf(socket);
    if (refusal === undefined || !socket.writable || !hasBegun) return void socket.destroy();
    void refuseInTurn(parts, socket, refusal, connections.underWay(socket));
  });
}

function isHandshake({ method = '', httpVersion, rawHeaders: headers }: IncomingMessage): boolean {
  return isWebSocketHandshake({ method, httpVersion, headers });
}

/** Refuses input after the pending answers of the connection: answers are sent in request order. RFC 9112 §9.3.2 */
async function refuseInTurn(
  parts: ServerParts,
  socket: Socket,
  refusal: Refusal,
  before: readonly Http1Viewer[],
): Promise<void> {
  // If the error is in the framing or body of the last request, the refusal is its answer, unless one has begun.
  const broken = before.find((viewer) => !viewer.isReceived);
  await Promise.all(before.filter((viewer) => viewer !== broken).map((viewer) => viewer.ended));
  if (broken === undefined) {
    if (socket.writable) refuse(parts, socket, refusal);
  } else if (broken.statusSent === 0) {
    broken.refuse(refusal, parts.edge.clock());
  } else {
    await broken.ended;
    socket.destroy();
  }
}

/** Sends and logs a refusal. `message`: the request as far as it was read. */
function refuse({ edge, proxies }: ServerParts, socket: Socket, refusal: Refusal, message?: IncomingMessage): void {
  const { clock, writeLog, metrics, sites } = edge;
  const head = message && headOf(message);
  const clientAddress = head === undefined ? proxies.addressOf(socket) : proxies.clientOf(socket, head.headers).address;
  const { status, reason } = refusal;
  const responseBytes = sendRefusal(socket, refusal, clock());
  metrics.countRequest({ status: 'ERROR', reason }, status, responseBytes);
  const named = head && findNamedSite(sites, head.headers);
  writeLog(named?.domainId ?? 0, describeRefusal({ clientAddress, status, responseBytes, endedAt: clock(), head }));
}

function headOf({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage): Refused['head'] {
  return { method, target: url, httpVersion: httpVersion === '1.0' ? '1.0' : '1.1', headers: rawHeaders };
}

/** node:http types the sockets of its rarer events as `Duplex`; over TCP they are sockets. */
function socketOf(duplex: Duplex): Socket {
  if (duplex instanceof Socket) return duplex;
  throw new Error('the listener is on TCP');
}
