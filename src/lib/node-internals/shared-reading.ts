/**
 * Reading connections without a buffer for each read: what comes lies in one that all of a worker share, for as long as its reader
 * looks at it. Node has that for sockets that it is asked to make, not for those that it accepts. docs/decisions/0270
 * Brings 12.2 → 10.2 µs a hit (`npm run bench -- hits`).
 */
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { ownBytes } from '../own-bytes.ts';
import { handleOfNewSocket } from './new-socket.ts';

export interface SharedReading {
  /**
   * Gives bytes to `onBytes` from now on, unless `socket` is paused or its stream holds unread bytes. Returns false if
   * they keep arriving as `data`.
   */
  begin(socket: Socket, onBytes: (bytes: Buffer) => void): boolean;
  /** All that comes is given as `data` again. */
  end(socket: Socket): void;
  /** The same bytes, for longer than the call that gave them. */
  keep(bytes: Buffer): Buffer;
}

/** The largest piece that one read gives. Most heads have less than 1 KiB. */
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
      // What fills the buffer stays as long as the connection.
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

/** Where a socket keeps the two; `undefined`: not where it used to. */
function findSlots(): Slots | undefined {
  const onread = { buffer: new Uint8Array(1), callback: () => true };
  const socket = new Socket({ onread });
  const slotOf = (value: unknown) =>
    Object.getOwnPropertySymbols(socket).find((slot) => Reflect.get(socket, slot) === value);
  const [buffer, callback] = [slotOf(onread.buffer), slotOf(onread.callback)];
  return buffer === undefined || callback === undefined ? undefined : { buffer, callback };
}

/** Whether Node keeps the two there, and its handles take a buffer. */
export function canShareReading(): boolean {
  return findSlots() !== undefined && canUse(handleOfNewSocket());
}

function canUse(handle: unknown): handle is { useUserBuffer(buffer: Buffer): void } {
  return typeof handle === 'object' && handle !== null && typeof Reflect.get(handle, 'useUserBuffer') === 'function';
}
