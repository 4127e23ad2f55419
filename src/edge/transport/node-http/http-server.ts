/**
 * Connections over TCP or TLS: read by our own reader first, and given to node:http where that cannot go on. Requests
 * of node:http are served in turn; input that is not a request is refused.
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
    requireHostHeader: false, // stage 1 asks for it, and its refusal is logged
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
      return false; // a server may ignore it. RFC 9110 §7.8
    },
  });
  server.maxHeadersCount = 0; // the size is the limit: beyond a count Node would drop fields silently
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
    // Node's parser drops what came with an Upgrade, so what follows may be half a request.
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
  return { server, refusePlain: (socket) => refusePlain(parts, socket), ...bare };
}

function refusePlain(parts: ServerParts, socket: Socket): void {
  lingerAtEnd(socket, parts.limits.clientIdleMs);
  refuse(parts, socket, { status: 400, reason: 'plainHttp', explanation: PLAIN_HTTP });
}

const PLAIN_HTTP = 'This port accepts HTTPS only, but the request used plain HTTP. Use an https:// URL.';

/** What reads on from where we do not. To be called before `server` loses its listeners. */
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
 * What a client sent before it ended its side is answered all the same; of what will never be whole the end is what is
 * wrong.
 */
async function untilAnswered(socket: Socket, asked: readonly Http1Viewer[], limitMs: number): Promise<void> {
  if (asked.length === 0 || !asked.every(({ isReceived }) => isReceived)) return;
  const ended = Promise.all(asked.map((viewer) => viewer.ended)).then(() => undefined);
  watchHalfClosed(socket, ended, limitMs);
  await ended;
}

/** Handles input that is not a request, and CONNECT, which only an origin server could take. */
function answerBroken(server: Server, parts: ServerParts): void {
  const { connections, proxies } = parts;
  // Without a listener Node would drop the connection without a word.
  server.on('connect', (message: IncomingMessage, duplex: Duplex) => {
    const socket = socketOf(duplex);
    socket.on('error', () => undefined); // Node has taken its own listener away, and an error that nobody hears ends the process
    // It has taken the connection from the answers before it, too: an answer to this one would land inside theirs.
    if (connections.underWay(socket).length > 0) socket.destroy();
    refuse(parts, socket, { status: 405, reason: 'method' }, message);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, duplex: Duplex) => {
    const socket = socketOf(duplex);
    if (socket.writableEnded) return; // it has had its last answer
    const refusal = readParserError(error);
    const hasBegun = socket.bytesRead > proxies.headerBytesOf(socket);
    if (refusal === undefined || !socket.writable || !hasBegun) return void socket.destroy();
    void refuseInTurn(parts, socket, refusal, connections.underWay(socket));
  });
}

function isHandshake({ method = '', httpVersion, rawHeaders: headers }: IncomingMessage): boolean {
  return isWebSocketHandshake({ method, httpVersion, headers });
}

/** Answers go out in the order of the requests, so those under way on the connection come first. RFC 9112 §9.3.2 */
async function refuseInTurn(
  parts: ServerParts,
  socket: Socket,
  refusal: Refusal,
  before: readonly Http1Viewer[],
): Promise<void> {
  // The fault may lie in the framing or the body of the last request: then the refusal is its answer, if it has none
  // yet.
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

/** `message`: what was read of it. */
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

/** node:http types the sockets of its rarer events as streams; over TCP they are sockets. */
function socketOf(duplex: Duplex): Socket {
  if (duplex instanceof Socket) return duplex;
  throw new Error('the listener is on TCP');
}
