/** The connections of edges: found by their certificate, cut when it is revoked, and ended after a day. */
import type { TLSSocket } from 'node:tls';
import type { VerifiedLeaf } from './peers.ts';

/** Longest life of a connection: its certificate is verified anew at least this often. */
const MAX_LIFE_MS = 24 * 3_600_000;

export interface EdgeConnections {
  /** Number of open connections. */
  readonly count: number;
  add(socket: TLSSocket, leaf: VerifiedLeaf): void;
  /** One leaf for each certificate that has a connection. */
  leaves(): readonly VerifiedLeaf[];
  cut(serial: string): void;
  cutEdge(edge: string): void;
}

export function createEdgeConnections(): EdgeConnections {
  const bySerial = new Map<string, { readonly leaf: VerifiedLeaf; readonly sockets: Set<TLSSocket> }>();
  const destroy = (sockets: Iterable<TLSSocket>): void => {
    for (const socket of [...sockets]) socket.destroy();
  };
  return {
    get count() {
      return bySerial.values().reduce((sum, { sockets }) => sum + sockets.size, 0);
    },
    add(socket, leaf) {
      const entry = bySerial.get(leaf.serial) ?? { leaf, sockets: new Set() };
      bySerial.set(leaf.serial, entry);
      entry.sockets.add(socket);
      const timer = setTimeout(() => socket.destroy(), MAX_LIFE_MS);
      socket.once('close', () => {
        clearTimeout(timer);
        entry.sockets.delete(socket);
        if (entry.sockets.size === 0) bySerial.delete(leaf.serial);
      });
    },
    leaves: () => [...bySerial.values()].map(({ leaf }) => leaf),
    cut: (serial) => destroy(bySerial.get(serial)?.sockets ?? []),
    cutEdge(edge) {
      for (const { leaf, sockets } of [...bySerial.values()]) if (leaf.edge === edge) destroy(sockets);
    },
  };
}
