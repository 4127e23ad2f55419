/**
 * Reads connections without a buffer per read: bytes lie in a buffer that all connections of a worker share, only while
 * their reader handles them. Node supports that for sockets created with `onread`, not for accepted ones.
 * docs/decisions/0270
 * Brings 12.2 → 10.2 µs a hit (`npm run bench -- hits`).
 */
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { ownBytes } from '../own-bytes.ts';
import { handleOfNewSocket } from './new-socket.ts';

export interface SharedReading {
  /**
   * Passes bytes to `onBytes` from now on, unless `socket` is paused or its stream holds unread bytes. Returns false if
   * they keep arriving as `data`.
   */
  begin(socket: Socket, onBytes: (bytes: Buffer) => void): boolean;
  /** Lets bytes arrive as `data` again. */
  end(socket: Socket): void;
  /** Returns the bytes in memory that outlives the call of `onBytes`. */
  keep(bytes: Buffer): Buffer;
}

/** Largest piece of one read. Most heads have less than 1 KiB. */
export const READ_BYTES = 64 * 1024;

export function createSharedReading(): SharedReading {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const slots = findSlots();
  return {
    begin: (socket, onBytes) => {
      const handle: unknown = Reflect.get(socket, '_handle');
      if (slots === undefined || !canUse(handle) || Reflect.get(socket, slots.buffer) !== null) return false;
      Reflect.set(socket, slots.buffer, buffer);
      Reflect.set(socket, slots.callback, (length: number) => {
        if (socket.readableFlowing !== true || socket.readableLength > 0) return push(socket, buffer, length);
        onBytes(buffer.subarray(0, length));
        return true;
      });
      handle.useUserBuffer(buffer);
      return true;
    },
    end: (socket) => {
      // The handle keeps filling the buffer as long as the connection lives.
      if (slots === undefined || Reflect.get(socket, slots.buffer) !== buffer) return;
      Reflect.set(socket, slots.callback, (length: number) => push(socket, buffer, length));
    },
    keep: (bytes) => (bytes.buffer === buffer.buffer ? ownBytes([bytes]) : bytes),
  };
}

/** Pushes bytes into the stream as Node does without a shared buffer. False: the stream has enough. */
function push(socket: Socket, buffer: Buffer, length: number): boolean {
  return socket.push(ownBytes([buffer.subarray(0, length)]));
}

/**
 * Pauses the stream, not the socket: a socket that reads into a shared buffer would stop reading at once, and a client
 * that leaves would not be noticed.
 */
export function pause(socket: Socket): void {
  Readable.prototype.pause.call(socket);
}

interface Slots {
  readonly buffer: symbol;
  readonly callback: symbol;
}

/** Finds where a socket keeps buffer and callback; `undefined` if they are not where they used to be. */
function findSlots(): Slots | undefined {
  const onread = { buffer: new Uint8Array(1), callback: () => true };
  const socket = new Socket({ onread });
  const slotOf = (value: unknown) =>
    Object.getOwnPropertySymbols(socket).find((slot) => Reflect.get(socket, slot) === value);
  const [buffer, callback] = [slotOf(onread.buffer), slotOf(onread.callback)];
  return buffer === undefined || callback === undefined ? undefined : { buffer, callback };
}

/** Whether Node keeps buffer and callback there, and its handles accept a buffer. */
export function canShareReading(): boolean {
  return findSlots() !== undefined && canUse(handleOfNewSocket());
}

function canUse(handle: unknown): handle is { useUserBuffer(buffer: Buffer): void } {
  return typeof handle === 'object' && handle !== null && typeof Reflect.get(handle, 'useUserBuffer') === 'function';
}
