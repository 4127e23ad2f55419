/** How many connections of a worker carry WebSocket: each takes as much of it as many requests, and for long. */
import type { TunnelLimits } from '../respond/tunnel.ts';
import { createStock, type StockOwner } from '../stock.ts';

/** The connections of a worker that carry WebSocket, or have asked an origin for it. */
export interface WebSockets {
  readonly open: number;
  readonly limits: TunnelLimits;
  /** Gives what frees the place, to be called once; `undefined`: the owner's client or domain has its share, or there is none. */
  take(owner: StockOwner): (() => void) | undefined;
}

export function createWebSockets(max: number, limits: TunnelLimits): WebSockets {
  const stock = createStock(max);
  return {
    get open() {
      return stock.taken;
    },
    limits,
    take: (owner) => {
      if (!stock.mayTake(owner, 1)) return undefined;
      stock.add(owner, 1);
      return () => stock.add(owner, -1);
    },
  };
}
