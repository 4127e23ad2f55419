/** Hands a connection to node:http from which other code has begun to read. */
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';

/** `rest`: what was read last, and is to be read once more. */
export type HttpReader = (socket: Socket, rest: Buffer) => void;

export interface HttpReaderOptions {
  /** What node:http is told the end of a client's side behind; absent: it is told at once. Never rejects. */
  readonly untilEnd?: (socket: Socket) => Promise<void>;
  /** Gives what node:http is to get in place of the bytes of this connection, piece by piece; absent: those bytes. */
  readonly openFilter?: (socket: Socket) => (bytes: Buffer) => Buffer;
  /** Which event gives `server` its connections: `secureConnection` where it speaks TLS. */
  readonly event?: 'connection' | 'secureConnection';
}

/** What reads on as `server` does; to be called before that loses its listeners. */
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
    // A stream takes nothing back behind its end.
    socket.emit('data', rest);
    socket.emit('end');
  };
}

/**
 * Whether node:http takes connections by a listener, which can be called for others. Without it none can be given away.
 */
export function canGiveAway(): boolean {
  return createServer().listenerCount('connection') > 0;
}

/** node:http drops the answers under way when a client ends its side. */
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
 * Adding a `data` listener makes node:http read through the stream, not past it. The listener names the one it stands
 * for, as those of `once` do: when node:http gives a connection away it removes its own listener, which is then this
 * one.
 */
function standBefore(socket: Socket, read: (...args: never[]) => unknown, filter: (bytes: Buffer) => Buffer): void {
  const listener = Object.assign((bytes: Buffer): void => void Reflect.apply(read, socket, [filter(bytes)]), {
    listener: read,
  });
  socket.off('data', read as (bytes: Buffer) => void); // it listens to this event
  socket.on('data', listener);
}
