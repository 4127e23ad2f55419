/** node:http, for a connection that somebody else has begun to read. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** `rest`: what was read last, and is to be read once more. */
export type HttpReader = (socket: Socket, rest: Buffer) => void;

/**
 * What reads on as `server` does; to be called before that loses its listeners. `untilEnd`: what the end of a client waits for that has
 * ended its side before; absent: nothing.
 */
export function createHttpReader(server: Server, untilEnd?: (socket: Socket) => Promise<void>): HttpReader {
  const readers = server.listeners('connection');
  return (socket, rest) => {
    const hasEnded = socket.readableEnded;
    if (!hasEnded && rest.length > 0) socket.unshift(rest);
    for (const read of readers) Reflect.apply(read, server, [socket]);
    if (!hasEnded) return void socket.resume();
    // A stream takes nothing back behind its end.
    socket.emit('data', rest);
    if (untilEnd === undefined) socket.emit('end');
    else void untilEnd(socket).then(() => socket.emit('end')); // never rejects
  };
}
