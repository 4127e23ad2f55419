/**
 * Connections of our own client to one address of an origin, for one site. The caller bounds how many are in use at
 * once.
 */
import type { OriginFailure } from '../../reasons.ts';
import { type Connect, ConnectError, type Destination } from '../connector.ts';
import {
  type ConnectionParts,
  OwnConnection,
  type OwnHandler,
  type OwnRequest,
  type RequestFailure,
} from './connection.ts';

/** A request that was given to a pool. */
export interface PoolTurn {
  /**
   * Cancels the request: closes its connection without notifying the handler. Allowed only before the head has arrived.
   */
  cancel(): void;
}

/** A connection that is being opened, and the request that waits for it, if any. */
interface Opening {
  asked: { readonly request: OwnRequest; readonly handler: OwnHandler } | undefined;
  connection: OwnConnection | undefined;
}

export class OwnPool {
  readonly #destination: Destination;
  readonly #connect: Connect;
  readonly #parts: ConnectionParts;
  readonly #all = new Set<OwnConnection>();
  /** A stack: the connection used last is reused first. */
  readonly #idle: OwnConnection[] = [];
  /**
   * Connections being opened whose requests were cancelled. The next requests wait for these, so that there are never
   * more connections than slots.
   */
  readonly #spare: Opening[] = [];
  #isClosed = false;

  constructor(destination: Destination, connect: Connect, parts: ConnectionParts) {
    this.#destination = destination;
    this.#connect = connect;
    this.#parts = parts;
  }

  /**
   * Sends the request on an idle connection or opens one. The handler is notified in a later turn of the event loop,
   * except that `onSent` may be called at once.
   */
  ask(request: OwnRequest, handler: OwnHandler): PoolTurn {
    const connection = request.needsFresh ? undefined : this.#takeIdle();
    if (connection !== undefined) {
      connection.send(request, handler);
      return { cancel: () => connection.cancel(handler) };
    }
    const opening = this.#spare.pop() ?? this.#open();
    opening.asked = { request, handler };
    return { cancel: () => this.#cancel(opening, handler) };
  }

  /** Closes every connection, also during an exchange, and each one that is still being opened. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#all) connection.destroy();
  }

  #takeIdle(): OwnConnection | undefined {
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined || connection.takeUp()) return connection;
    }
  }

  #cancel(opening: Opening, handler: OwnHandler): void {
    if (opening.connection !== undefined) opening.connection.cancel(handler);
    else {
      opening.asked = undefined;
      this.#spare.push(opening);
    }
  }

  #open(): Opening {
    const opening: Opening = { asked: undefined, connection: undefined };
    this.#connect(this.#destination).then(
      (socket) => {
        this.#forget(opening);
        const connection = new OwnConnection(socket, this.#parts, this);
        opening.connection = connection;
        this.#all.add(connection);
        if (this.#isClosed) connection.destroy();
        const { asked } = opening;
        const isUsable = connection.takeUp();
        if (asked === undefined) {
          if (isUsable) this.onIdle(connection);
        } else if (isUsable) connection.send(asked.request, asked.handler);
        else asked.handler.onFailure(notSent('originReset', 'the connection spoke or ended before it was asked'));
      },
      (error: Error) => {
        this.#forget(opening);
        const failure = error instanceof ConnectError ? error.failure : 'originReset';
        opening.asked?.handler.onFailure(notSent(failure, error.message));
      },
    );
    return opening;
  }

  #forget(opening: Opening): void {
    const at = this.#spare.indexOf(opening);
    if (at !== -1) this.#spare.splice(at, 1);
  }

  onIdle(connection: OwnConnection): void {
    this.#idle.push(connection);
  }

  onClosed(connection: OwnConnection): void {
    this.#all.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
  }
}

function notSent(failure: OriginFailure, detail: string): RequestFailure {
  return { failure, detail, isSent: false, isIdleClose: false };
}
