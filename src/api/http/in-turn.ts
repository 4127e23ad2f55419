/**
 * The requests of a connection that node:http reads, one after the other. By itself it begins all that its client sends without waiting
 * for answers, and has every one of them in memory. docs/decisions/0382
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type HeldReading, holdReading, readOn } from '#lib/held-reading.ts';

/** How many requests may wait for the answer before them: with one more its connection is ended. */
interface WaitingLimits {
  readonly ofConnection: number;
  readonly inAll: number;
}

interface Turn {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Connection extends HeldReading {
  isBusy: boolean;
  readonly waiting: Turn[];
  /** The last request that came. */
  last: IncomingMessage;
  /** Resolved when nothing is answered and nothing waits. */
  idle: PromiseWithResolvers<void> | undefined;
}

export interface InTurn {
  /**
   * Resolves when every request of the connection that has arrived whole is answered, or the connection is closed; at once where one
   * is not whole.
   */
  untilAnswered(socket: Socket): Promise<void>;
}

/** What listens to the requests of `server` by now gets each when the answer before it is out, and none behind the last. */
export function serveInTurn(server: Server, limits: WaitingLimits): InTurn {
  const listeners = server.listeners('request');
  let inAll = 0;
  const connections = new WeakMap<Socket, Connection>();
  const begin = (connection: Connection, { request, response }: Turn) => {
    connection.isBusy = true;
    response.once('close', () => goOn(connection, request.socket));
    for (const listener of listeners) Reflect.apply(listener, server, [request, response]);
  };
  const goOn = (connection: Connection, socket: Socket) => {
    const turn = connection.waiting.shift();
    connection.isBusy = turn !== undefined;
    if (turn === undefined) return void connection.idle?.resolve();
    inAll -= 1;
    setImmediate(beginNext, connection, socket, turn); // others have their turn before what is here already
  };
  const beginNext = (connection: Connection, socket: Socket, turn: Turn) => {
    if (!socket.writable) {
      inAll -= connection.waiting.splice(0).length; // to which no answer would come
      connection.idle?.resolve();
      return;
    }
    if (connection.waiting.length === 0) readOn(socket, connection); // the rest of its body may be to come
    begin(connection, turn);
  };
  server.removeAllListeners('request').on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    if (!socket.writable) return; // it came with what ended the connection
    const connection = connections.get(socket) ?? {
      isBusy: false,
      isHeld: false,
      waiting: [],
      last: request,
      idle: undefined,
    };
    connection.last = request;
    connections.set(socket, connection);
    if (!connection.isBusy) return begin(connection, { request, response });
    holdReading(socket, connection);
    inAll += 1;
    if (connection.waiting.push({ request, response }) > limits.ofConnection || inAll > limits.inAll) socket.destroy();
  });
  return {
    untilAnswered: (socket) => {
      const connection = connections.get(socket);
      if (connection === undefined || !connection.isBusy || !connection.last.complete) return Promise.resolve();
      connection.idle ??= Promise.withResolvers();
      return connection.idle.promise;
    },
  };
}
