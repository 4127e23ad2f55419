/**
 * The listener for edges that fetch through this one: mutual TLS, GET and HEAD over HTTP/1.1. The certificate of each
 * connection must be one that the feed names, also later on.
 */
import { constants, type X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { allValues } from '#http/headers.ts';
import type { Logger } from '#lib/logger.ts';
import type { Tiers } from '../../origin/parents/tiers.ts';
import { handle } from '../../pipeline/handle.ts';
import { parseTier, TIER_FIELD, type TierRequest } from '../../tier-fields.ts';
import type { ServerParts } from '../server-parts.ts';
import { Http1Viewer } from './http1-viewer.ts';

export interface TierServer {
  readonly server: Server;
  /** Must be called when settings have changed: takes up a renewed certificate, and cuts edges that are no longer known. */
  recheck(): void;
  /** Ends connections that are idle, and the others after their answer. */
  end(): void;
  cutAll(): void;
}

const MAX_CONNECTIONS = 10_000;

const TLS_OPTIONS = {
  minVersion: 'TLSv1.3',
  requestCert: true,
  rejectUnauthorized: true,
  // A resumed session would skip the look at the certificate. Every handshake is a full one.
  secureOptions: constants.SSL_OP_NO_TICKET,
  ALPNProtocols: ['http/1.1'],
} as const;

export function createTierServer(parts: ServerParts, tiers: Tiers): TierServer {
  const { edge, limits } = parts;
  const children = new Map<TLSSocket, Child>();
  const server = createServer({
    ...TLS_OPTIONS,
    handshakeTimeout: limits.handshakeMs,
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.requestHeaderMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    noDelay: true,
  });
  server.maxHeadersCount = 0; // only the size is limited: beyond a count Node would drop fields silently
  server.maxConnections = MAX_CONNECTIONS;
  const renew = createRenewal(server, tiers, edge.log);
  const checkChildren = createChecks(tiers, children);
  renew();
  standBefore(server, (socket) => {
    const child = childOn(tiers, socket);
    // A handshake that ends after all connections were cut would keep the listener from its end.
    if (child === undefined || edge.isClosing()) return false;
    children.set(socket, child);
    socket.once('close', () => children.delete(socket));
    return true;
  });
  server.on('request', (message: IncomingMessage, response: ServerResponse) => {
    // `as`: the connections of this server, see `standBefore`.
    const socket = message.socket as TLSSocket;
    const child = children.get(socket);
    checkChildren.again();
    if (child?.isLeaving || socket.destroyed) return void socket.destroy();
    if (child !== undefined) noteAnswer(child, socket, response);
    const tier = tierOf(message, child?.edge);
    if (typeof tier === 'number') return refuse(response, tier);
    response.once('finish', () => {
      if (edge.isDraining()) setImmediate(() => server.closeIdleConnections());
    });
    const viewer = new Http1Viewer(message, response, {
      line: undefined,
      client: { address: tier.client, isTls: tier.scheme === 'https' },
      secured: securedBy(socket),
      tier,
      idleTimeoutMs: limits.clientIdleMs,
      maxRequestBodyBytes: 0,
    });
    void parts.connections.serve(viewer, () => handle(viewer, edge)); // never rejects
  });
  return {
    server,
    recheck: () => {
      renew();
      checkChildren.now();
    },
    end: () => server.closeIdleConnections(),
    cutAll: () => server.closeAllConnections(),
  };
}

/**
 * Returns a function that lets the server present the newest certificate of this edge. If that cannot be used, such as
 * between the replacements of two files, the former stays until the next call; without one no edge connects.
 */
function createRenewal(server: Server, tiers: Tiers, log: Logger): () => void {
  let presented = '';
  let problem = '';
  return () => {
    try {
      const { cert, key, ca } = tiers.tls();
      const next = [cert, key, ...ca].join();
      if (next !== presented) server.setSecureContext({ ...TLS_OPTIONS, cert, key, ca: [...ca] });
      presented = next;
      problem = '';
    } catch (error) {
      if (problem !== String(error))
        log.error({ err: error }, 'cannot take up the certificate for edges below this one');
      problem = String(error);
    }
  };
}

/** A connection of an edge that fetches through this one. */
interface Child {
  readonly edge: string;
  readonly certificate: X509Certificate;
  /** Requests that are not answered yet. */
  underWay: number;
  /** Whether the edge has another certificate by now: the connection takes no more requests. */
  isLeaving: boolean;
}

/** Returns `undefined` also if the settings cannot be read for now: the edge tries again, or elsewhere. */
function childOn(tiers: Tiers, socket: TLSSocket): Child | undefined {
  const certificate = socket.getPeerX509Certificate();
  try {
    const edge = certificate && tiers.childOf(certificate);
    if (certificate === undefined || edge === undefined) return undefined;
    return { edge, certificate, underWay: 0, isLeaving: false };
  } catch {
    return undefined;
  }
}

function noteAnswer(child: Child, socket: TLSSocket, response: ServerResponse): void {
  child.underWay++;
  response.once('close', () => {
    child.underWay--;
    endIfLeft(child, socket);
  });
}

function endIfLeft({ isLeaving, underWay }: Child, socket: TLSSocket): void {
  if (isLeaving && underWay === 0) socket.destroySoon();
}

/**
 * `now` looks at all connections if the place of any edge has changed. While the settings cannot be read nothing
 * changes; `again` repeats a look that failed.
 */
function createChecks(tiers: Tiers, children: ReadonlyMap<TLSSocket, Child>) {
  let checked: string | undefined = '';
  const now = () => {
    try {
      const listed = JSON.stringify(tiers.list());
      if (listed === checked) return;
      checked = undefined;
      recheck(tiers, children);
      checked = listed;
    } catch {
      checked = undefined;
    }
  };
  const again = () => {
    if (checked === undefined) now();
  };
  return { now, again };
}

/** Cuts edges that are no children any more. One with a new certificate is to connect anew, after its present answer. */
function recheck(tiers: Tiers, children: ReadonlyMap<TLSSocket, Child>): void {
  for (const [socket, child] of children) {
    if (!tiers.isChild(child.edge)) socket.destroy();
    else if (tiers.childOf(child.certificate) !== child.edge) {
      child.isLeaving = true;
      endIfLeft(child, socket);
    }
  }
}

/** Lets connections reach HTTP that `admit` admits, and destroys the others. */
function standBefore(server: Server, admit: (socket: TLSSocket) => boolean): void {
  const serve = server.listeners('secureConnection');
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    socket.on('error', () => undefined); // shows as closed
    if (!admit(socket)) return void socket.destroy();
    for (const listener of serve) Reflect.apply(listener, server, [socket]);
  });
  server.on('tlsClientError', (_: Error, socket: Socket) => socket.destroy());
}

/** Returns what the request says of itself, or the status that it is refused with. */
function tierOf({ method, rawHeaders }: IncomingMessage, child: string | undefined): TierRequest | number {
  if (method !== 'GET' && method !== 'HEAD') return 405;
  const [text = '', ...others] = allValues(rawHeaders, TIER_FIELD.toLowerCase());
  const tier = others.length > 0 ? undefined : parseTier(text);
  // An edge says who it is, as its certificate does.
  return tier === undefined || tier.from !== child ? 400 : tier;
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { connection: 'close' }).end();
}

function securedBy(socket: TLSSocket) {
  const reset = () => void socket.destroy();
  return { serverName: '', certificates: [], covers: () => true, version: '1.3', reset } as const;
}
