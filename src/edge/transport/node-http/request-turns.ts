/**
 * Serves the requests of a connection one at a time. Requests after an answer that ends the connection are never acted
 * on, and the effect of an unsafe request is visible to the next. RFC 9112 §9.3.2, §9.6
 * However many requests a client pipelines, few wait, and other connections are served in between. docs/decisions/0165
 */
import type { Socket } from 'node:net';
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { after, type Eventual } from '#lib/future.ts';
import { type HeldReading, holdReading, readOn } from '#lib/held-reading.ts';
import { Roster } from '#lib/roster.ts';
import type { Secured } from '../../secured.ts';
import type { CutStatus, Viewer } from '../../viewer.ts';
import type { Http1Viewer } from './http1-viewer.ts';

/** Waiting requests of a connection from which reading pauses. */
const READ_AHEAD = 32;

export interface ClientConnections {
  /** Number of requests being served on all connections. */
  readonly served: number;
  /** The unfinished requests of a connection, in order. */
  underWay(socket: Socket): readonly Http1Viewer[];
  /**
   * Counts a request that has just arrived. Returns whether more may follow, it is the last, or it comes after the last
   * and must not be served.
   */
  countRequest(socket: Socket): 'more' | 'last' | 'none';
  /** Adds requests that our own reader served on the connection. */
  countBefore(socket: Socket, requests: number): void;
  /** Serves a request after those before it are done. */
  serveInTurn(socket: Socket, turn: Turn): void;
  /** Serves a request of a connection whose requests do not wait for each other. */
  serve(viewer: Viewer, serve: () => Eventual<void>): Eventual<void>;
  /** Counts answers without a viewer: +1 when a client does not take one at once, -1 when that one ends. */
  noteUnderWay(change: 1 | -1): void;
  /** The result of the TLS handshake; `undefined` for plain connections. */
  securedOf(socket: Socket): Secured | undefined;
  secure(socket: Socket, secured: Secured): void;
  /** Ends the connections of all requests that are being served. */
  cutAll(): void;
  /**
   * Resolves when no request is being served, or after `limitMs`. Log lines are written a little after connections end.
   */
  concluded(limitMs: number): Promise<void>;
}

/** A waiting request. Either `serve` or `leave` is called; neither after the connection's last answer. */
interface Turn {
  readonly viewer: Http1Viewer;
  /** Never rejects. */
  serve(): Promise<void>;
  /** Called if the request will not be served: the client has left, or an earlier answer was cut. */
  leave(cutStatus: CutStatus | undefined): void;
}

export interface ConnectionLimits {
  readonly maxRequestsPerConnection: number;
  readonly maxWaitingRequests: number;
}

interface Connection extends HeldReading {
  requests: number;
  /** The result of the latest `countRequest`. */
  carries: 'more' | 'last' | 'none';
  /** The first request is being served, the others wait. */
  readonly turns: Turn[];
}

export function createConnections(limits: ConnectionLimits): ClientConnections {
  const connections = new WeakMap<Socket, Connection>();
  const securedBy = new WeakMap<Socket, Secured>();
  const served = new Roster<Viewer>();
  let others = 0;
  const of = (socket: Socket): Connection => {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const created: Connection = { requests: 0, carries: 'more', turns: [], isHeld: false };
    connections.set(socket, created);
    return created;
  };
  let tellConcluded = () => {};
  const serve: ClientConnections['serve'] = (viewer, serveIt) => {
    const seat = served.add(viewer);
    return after(serveIt(), () => {
      served.remove(seat);
      if (served.size + others === 0) tellConcluded();
    });
  };
  return {
    get served() {
      return served.size + others;
    },
    underWay: (socket) => (connections.get(socket)?.turns ?? []).map(({ viewer }) => viewer),
    countRequest: (socket) => {
      const connection = of(socket);
      connection.carries = nextCarries(connection, limits);
      // A request after the last one shows that the last one has arrived completely.
      if (connection.carries === 'none') holdReading(socket, connection);
      return connection.carries;
    },
    countBefore: (socket, requests) => {
      of(socket).requests += requests;
    },
    serveInTurn: (socket, turn) => {
      const connection = of(socket);
      const { turns } = connection;
      turns.push(turn);
      if (turns.length === 1) void serveTurns(socket, connection, serve);
      else if (turns.length > READ_AHEAD) holdReading(socket, connection);
    },
    serve,
    noteUnderWay: (change) => {
      others += change;
      if (served.size + others === 0) tellConcluded();
    },
    securedOf: (socket) => securedBy.get(socket),
    secure: (socket, secured) => void securedBy.set(socket, secured),
    cutAll: () => {
      for (const viewer of served.members()) viewer.cut(503);
    },
    concluded: async (limitMs) => {
      if (served.size + others === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, limitMs);
      tellConcluded = resolve;
      await promise;
      clearTimeout(timer);
    },
  };
}

function nextCarries(connection: Connection, limits: ConnectionLimits): Connection['carries'] {
  if (connection.carries !== 'more') return 'none';
  const isLast =
    ++connection.requests >= limits.maxRequestsPerConnection || connection.turns.length >= limits.maxWaitingRequests;
  return isLast ? 'last' : 'more';
}

async function serveTurns(socket: Socket, connection: Connection, serve: ClientConnections['serve']): Promise<void> {
  const { turns } = connection;
  // Node continues to read after the answer that ends the connection was sent.
  for (let turn = turns[0]; turn !== undefined && socket.writable; turn = turns[0]) {
    void serve(turn.viewer, turn.serve);
    await turn.viewer.ended;
    turns.shift();
    if (hasEnded(socket, turn.viewer)) break;
    const { cutStatus } = turn.viewer;
    if (cutStatus !== undefined) leaveAll(turns, cutStatus);
    if (turns.length === 0) return;
    if (turns.length <= READ_AHEAD && connection.carries !== 'none') readOn(socket, connection);
    // Otherwise, answers without waits would block this worker's other clients.
    await letOthersRun();
    if (!socket.writable) leaveAll(turns, undefined);
  }
  turns.length = 0;
}

function leaveAll(turns: Turn[], cutStatus: CutStatus | undefined): void {
  for (const { leave } of turns.splice(0)) leave(cutStatus);
}

/** Whether the answer was the connection's last, as opposed to a client that left. */
function hasEnded(socket: Socket, { isFinished, refusal }: Http1Viewer): boolean {
  return isFinished ? !socket.writable : refusal !== undefined;
}
