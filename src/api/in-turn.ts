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
}

/** What listens to the requests of `server` by now gets each when the answer before it is out, and none behind the last. */
export function serveInTurn(server: Server, limits: WaitingLimits): void {
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
    if (turn === undefined) return;
    inAll -= 1;
    setImmediate(beginNext, connection, socket, turn); // others have their turn before what is here already
  };
  const beginNext = (connection: Connection, socket: Socket, turn: Turn) => {
    if (!socket.writable) {
      inAll -= connection.waiting.splice(0).length; // to which no answer would come
      return;
    }
    if (connection.waiting.length === 0) readOn(socket, connection); // the rest of its body may be to come
    begin(connection, turn);
  };
  server.removeAllListeners('request').on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    if (!socket.writable) return; // it came with what ended the connection
    const connection = connections.get(socket) ?? { isBusy: false, isHeld: false, waiting: [] };
    connections.set(socket, connection);
    if (!connection.isBusy) return begin(connection, { request, response });
    holdReading(socket, connection);
    inAll += 1;
    if (connection.waiting.push({ request, response }) > limits.ofConnection || inAll > limits.inAll) socket.destroy();
  });
}
