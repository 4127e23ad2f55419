/** How many connections of a worker carry WebSocket: each takes as much of it as many requests, and for long. */
import type { TunnelLimits } from './respond/tunnel.ts';

/** The connections of a worker that carry WebSocket, or have asked an origin for it. */
export interface WebSockets {
  readonly open: number;
  readonly limits: TunnelLimits;
  /** Gives what frees the place, to be called once; `undefined`: there is none. */
  take(): (() => void) | undefined;
}

/** Per worker; each has two sockets, and up to 256 KiB on their way while both ends are slow. */
export const MAX_WEB_SOCKETS = 10_000;

export function createWebSockets(max: number, limits: TunnelLimits): WebSockets {
  let open = 0;
  return {
    get open() {
      return open;
    },
    limits,
    take: () => {
      if (open >= max) return undefined;
      open++;
      return () => void open--;
    },
  };
}
