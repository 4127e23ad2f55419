/**
 * Counts bytes that Node considers written but the system has not taken. They wait in libuv, which Node does not count.
 */
import type { Socket } from 'node:net';
import { handleOfNewSocket } from './new-socket.ts';

/**
 * Bytes not yet taken by the system, on a plain connection. Still valid just after the socket was destroyed, but not
 * after it has closed.
 */
export class Untaken {
  readonly #handle: unknown;

  /** Starts counting. */
  constructor(socket: Socket) {
    this.#handle = Reflect.get(socket, '_handle'); // a destroyed socket has none
  }

  /** 0 if this version of Node does not expose the count. */
  get bytes(): number {
    return queueSizeOf(this.#handle) ?? 0;
  }
}

/** Whether this version of Node exposes the count. */
export function canCountUnsent(): boolean {
  return queueSizeOf(handleOfNewSocket()) !== undefined;
}

function queueSizeOf(handle: unknown): number | undefined {
  const size: unknown =
    typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'writeQueueSize') : undefined;
  return typeof size === 'number' ? size : undefined;
}
