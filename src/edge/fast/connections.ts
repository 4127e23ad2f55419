/** A worker's connections that we read ourselves: taken, looked after, and ended with the edge. */
import type { Socket } from 'node:net';
import { BareConnection, type BareParts } from './connection.ts';
import { keepAliveLines } from './framing.ts';
import { RequestHead } from './read-head.ts';

export interface BareConnections {
  take(socket: Socket): void;
  /** Those with nothing to do end, the others with their answer. */
  close(): void;
  cutAll(): void;
}

/** `giveAway`: to node:http, from the bytes on that are put back. */
export function createBareConnections(
  parts: Pick<BareParts, 'edge' | 'limits' | 'connections' | 'proxies'>,
  giveAway: (socket: Socket) => void,
): BareConnections {
  const { limits, connections } = parts;
  const open = new Set<BareConnection>();
  const sweepMs = Math.min(MAX_SWEEP_MS, limits.requestHeaderMs / 4, limits.keepAliveMs / 4);
  let timer: NodeJS.Timeout | undefined;
  const sweep = () => {
    for (const connection of open) connection.sweep(sweepMs);
  };
  const shared: BareParts = {
    ...parts,
    head: new RequestHead(),
    keepAliveLines: keepAliveLines(limits.keepAliveMs),
    giveAway: (socket, requests) => {
      connections.countBefore(socket, requests);
      giveAway(socket);
    },
    onLeft: (connection) => {
      open.delete(connection);
      if (open.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
  };
  return {
    take: (socket) => {
      open.add(new BareConnection(socket, shared));
      timer ??= setInterval(sweep, sweepMs);
    },
    close: () => {
      for (const connection of open) connection.close();
    },
    cutAll: () => {
      for (const connection of open) connection.cut();
    },
  };
}

/** One timer for all of them: thousands of their own would be set anew with each request. */
const MAX_SWEEP_MS = 1_000;
