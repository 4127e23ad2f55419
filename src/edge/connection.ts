/**
 * The requests of one client's connection: one after the other, so that what follows an answer that ends the connection is
 * never acted on, and what an unsafe request changes is there for the next. RFC 9112 §9.3.2, §9.6
 */
import type { Socket } from 'node:net';
import type { Http1Viewer } from './http1-viewer.ts';
import type { Secured } from './tls/secured.ts';
import type { Viewer } from './viewer.ts';

export interface ClientConnections {
  /** Requests that are being served, on all connections. */
  readonly served: number;
  /** The connection's requests that are not done, in order. */
  underWay(socket: Socket): readonly Http1Viewer[];
  /** Whether the connection may carry another request after one that has just come. */
  countRequest(socket: Socket): boolean;
  /** `serve` is called when those before it are done, and not at all when the connection ended with one of them. */
  serveInTurn(socket: Socket, viewer: Http1Viewer, serve: () => Promise<void>): Promise<void>;
  /** Of a connection whose requests do not wait for each other. */
  serve(viewer: Viewer, serve: () => Promise<void>): Promise<void>;
  /** What its handshake settled; `undefined`: it is plain. */
  securedOf(socket: Socket): Secured | undefined;
  secure(socket: Socket, secured: Secured): void;
  /** Ends the connections of all requests that are being served. */
  cutAll(): void;
}

interface Connection {
  requests: number;
  readonly viewers: Http1Viewer[];
}

export function createConnections(maxRequests: number): ClientConnections {
  const connections = new WeakMap<Socket, Connection>();
  const securedBy = new WeakMap<Socket, Secured>();
  const served = new Set<Viewer>();
  const of = (socket: Socket): Connection => {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const created: Connection = { requests: 0, viewers: [] };
    connections.set(socket, created);
    return created;
  };
  return {
    get served() {
      return served.size;
    },
    underWay: (socket) => [...(connections.get(socket)?.viewers ?? [])],
    countRequest: (socket) => ++of(socket).requests < maxRequests,
    serveInTurn: async (socket, viewer, serve) => {
      const { viewers } = of(socket);
      const previous = viewers.at(-1);
      viewers.push(viewer);
      if (previous !== undefined) await previous.ended;
      // Node reads on after the answer that ends the connection has gone out.
      if (socket.writable) {
        served.add(viewer);
        await serve();
        served.delete(viewer);
      }
      viewers.splice(viewers.indexOf(viewer), 1);
    },
    serve: async (viewer, serve) => {
      served.add(viewer);
      await serve();
      served.delete(viewer);
    },
    securedOf: (socket) => securedBy.get(socket),
    secure: (socket, secured) => void securedBy.set(socket, secured),
    cutAll: () => {
      for (const viewer of served) viewer.cut(503);
    },
  };
}
