/**
 * The requests of one client's connection: one after the other, so that what follows an answer that ends the connection is
 * never acted on, and what an unsafe request changes is there for the next. RFC 9112 §9.3.2, §9.6
 * However many it sends at once, few wait and others are served between them. docs/decisions/0165
 */
import type { Socket } from 'node:net';
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { after, type Eventual } from '#lib/future.ts';
import { type HeldReading, holdReading, readOn } from '#lib/held-reading.ts';
import type { Secured } from '../../secured.ts';
import type { CutStatus, Viewer } from '../../viewer.ts';
import type { Http1Viewer } from './http1-viewer.ts';

/** Requests that may wait on a connection while more of them are read from it. */
const READ_AHEAD = 32;

export interface ClientConnections {
  /** Requests that are being served, on all connections. */
  readonly served: number;
  /** The connection's requests that are not done, in order. */
  underWay(socket: Socket): readonly Http1Viewer[];
  /** What the connection may carry from a request on that has just come: nothing at all behind the last. */
  countRequest(socket: Socket): 'more' | 'last' | 'none';
  /** Requests that it carried before they were counted here. */
  countBefore(socket: Socket, requests: number): void;
  /** When those before it are done. */
  serveInTurn(socket: Socket, turn: Turn): void;
  /** Serves a request of a connection whose requests do not wait for each other. */
  serve(viewer: Viewer, serve: () => Eventual<void>): Eventual<void>;
  /** Counts answers without a viewer: +1 when the client does not take one at once, -1 when it is over. */
  noteUnderWay(change: 1 | -1): void;
  /** What its handshake settled; `undefined`: it is plain. */
  securedOf(socket: Socket): Secured | undefined;
  secure(socket: Socket, secured: Secured): void;
  /** Ends the connections of all requests that are being served. */
  cutAll(): void;
  /** Resolves when no request is being served: their connections end a little before their lines are written. */
  concluded(limitMs: number): Promise<void>;
}

/** One of the two is called; neither when an answer before it was the connection's last. */
interface Turn {
  readonly viewer: Http1Viewer;
  /** Never rejects. */
  serve(): Promise<void>;
  /** Called when the turn does not come: the client has left, or the answer before it was cut. */
  leave(cutStatus: CutStatus | undefined): void;
}

export interface ConnectionLimits {
  readonly maxRequestsPerConnection: number;
  readonly maxWaitingRequests: number;
}

interface Connection extends HeldReading {
  requests: number;
  /**
   * What the latest request was told about the connection: more may follow, it is the last, or it is beyond the last.
   */
  carries: 'more' | 'last' | 'none';
  /** The first is being served, the others wait. */
  readonly turns: Turn[];
}

export function createConnections(limits: ConnectionLimits): ClientConnections {
  const connections = new WeakMap<Socket, Connection>();
  const securedBy = new WeakMap<Socket, Secured>();
  const served = new Set<Viewer>();
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
    served.add(viewer);
    return after(serveIt(), () => {
      served.delete(viewer);
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
      // A request behind the last one proves that the last one has arrived whole.
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
      for (const viewer of served) viewer.cut(503);
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
  // Node reads on after the answer that ends the connection has gone out.
  for (let turn = turns[0]; turn !== undefined && socket.writable; turn = turns[0]) {
    void serve(turn.viewer, turn.serve);
    await turn.viewer.ended;
    turns.shift();
    if (hasEnded(socket, turn.viewer)) break;
    const { cutStatus } = turn.viewer;
    if (cutStatus !== undefined) leaveAll(turns, cutStatus);
    if (turns.length === 0) return;
    if (turns.length <= READ_AHEAD && connection.carries !== 'none') readOn(socket, connection);
    // Answers that wait for nothing would keep this worker from all its other clients.
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
