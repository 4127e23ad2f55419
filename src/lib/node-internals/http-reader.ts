/** Hands a connection over to node:http after other code has begun to read from it. */
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';

/** `rest`: bytes that were read last and must be read again. */
export type HttpReader = (socket: Socket, rest: Buffer) => void;

export interface HttpReaderOptions {
  /** Delays the end of the client's side for node:http until the promise resolves; absent: no delay. Never rejects. */
  readonly untilEnd?: (socket: Socket) => Promise<void>;
  /** Opens a filter whose results replace the bytes of a connection, piece by piece; absent: unchanged. */
  readonly openFilter?: (socket: Socket) => (bytes: Buffer) => Buffer;
  /** The event with which `server` receives connections: `secureConnection` for TLS. */
  readonly event?: 'connection' | 'secureConnection';
}

/** Creates a reader that continues as `server` does. Must be called before the server's listeners are removed. */
export function createHttpReader(
  server: Server,
  { untilEnd, openFilter, event = 'connection' }: HttpReaderOptions = {},
): HttpReader {
  const readers = server.listeners(event);
  return (socket, rest) => {
    const hasEnded = socket.readableEnded;
    if (!hasEnded && rest.length > 0) socket.unshift(rest);
    const before = new Set([...socket.listeners('data'), ...socket.listeners('end')]);
    for (const read of readers) Reflect.apply(read, server, [socket]);
    if (openFilter !== undefined) {
      const filter = openFilter(socket);
      for (const read of socket.listeners('data')) if (!before.has(read)) standBefore(socket, read, filter);
    }
    if (untilEnd !== undefined)
      for (const onEnd of socket.listeners('end')) if (!before.has(onEnd)) holdBack(socket, onEnd, untilEnd);
    if (!hasEnded) return void socket.resume();
    // A stream cannot take bytes back after its end.
    socket.emit('data', rest);
    socket.emit('end');
  };
}

/**
 * Whether node:http receives connections by a listener, which can then be called for other connections. Otherwise none
 * can be handed over.
 */
export function canGiveAway(): boolean {
  return createServer().listenerCount('connection') > 0;
}

/** Delays an `end` listener, since node:http drops pending answers when a client ends its side. */
function holdBack(
  socket: Socket,
  onEnd: (...args: never[]) => unknown,
  untilEnd: (socket: Socket) => Promise<void>,
): void {
  const listener = () => void untilEnd(socket).then(() => Reflect.apply(onEnd, socket, []));
  socket.off('end', onEnd as () => void); // it listens to this event
  socket.on('end', Object.assign(listener, { listener: onEnd }));
}

/**
 * Wraps a `data` listener with a filter. A `data` listener makes node:http read through the stream instead of past it.
 * The wrapper names the original as `once` does, so that node:http removes it when it releases the connection.
 */
function standBefore(socket: Socket, read: (...args: never[]) => unknown, filter: (bytes: Buffer) => Buffer): void {
  const listener = Object.assign((bytes: Buffer): void => void Reflect.apply(read, socket, [filter(bytes)]), {
    listener: read,
  });
  socket.off('data', read as (bytes: Buffer) => void); // it listens to this event
  socket.on('data', listener);
}
