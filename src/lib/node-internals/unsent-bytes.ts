/** What of the bytes that Node counts as written the system has not taken. They wait in libuv, where Node does not look. */
import type { Socket } from 'node:net';
import { handleOfNewSocket } from './new-socket.ts';

/**
 * Bytes not yet taken by the system, on a plain connection. Valid just after it was destroyed too, but not after it has
 * closed.
 */
export interface Untaken {
  readonly bytes: number;
}

/** 0 where Node does not show it as it used to. */
export function watchUntaken(socket: Socket): Untaken {
  const handle: unknown = Reflect.get(socket, '_handle'); // a destroyed socket has none
  return {
    get bytes() {
      return queueSizeOf(handle) ?? 0;
    },
  };
}

/** Whether Node shows it. */
export function canCountUnsent(): boolean {
  return queueSizeOf(handleOfNewSocket()) !== undefined;
}

function queueSizeOf(handle: unknown): number | undefined {
  const size: unknown =
    typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'writeQueueSize') : undefined;
  return typeof size === 'number' ? size : undefined;
}
