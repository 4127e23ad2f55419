/** Bounds the connections of a worker that carry WebSocket: each uses as much as many requests do, and for long. */
import type { TunnelLimits, Tunnels } from '../respond/tunnel.ts';
import { createStock, type StockOwner } from '../stock.ts';

/** Connections of a worker that carry WebSocket, or have asked an origin for it. */
export interface WebSockets extends Tunnels {
  readonly open: number;
  /** Sends close frames on all connections. */
  endAll(): void;
  /**
   * Returns a function that frees the place, to be called once; `undefined` if none is free or the owner's client or
   * domain has its share.
   */
  take(owner: StockOwner): (() => void) | undefined;
}

export function createWebSockets(max: number, limits: TunnelLimits): WebSockets {
  const stock = createStock(max);
  const tunnels = new Set<() => void>();
  return {
    get open() {
      return stock.taken;
    },
    limits,
    enter: (end) => {
      tunnels.add(end);
      return () => void tunnels.delete(end);
    },
    endAll: () => {
      for (const end of tunnels) end();
    },
    take: (owner) => {
      if (!stock.mayTake(owner, 1)) return undefined;
      stock.add(owner, 1);
      return () => stock.add(owner, -1);
    },
  };
}
