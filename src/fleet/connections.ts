/**
 * Connections on the fleet listener: those of edges are found by their certificate, cut when it is revoked or has ended, and
 * after a day; others end soon. Both are bounded, so that no client takes the room of others. docs/decisions/0574
 */
import type { TLSSocket } from 'node:tls';
import type { VerifiedLeaf } from './peers.ts';

/** Longest life of a connection: its certificate is verified anew at least this often. */
const MAX_LIFE_MS = 24 * 3_600_000;
/** Limit of connections of one edge, whose processes need ten at most. */
const MAX_OF_EDGE = 32;
/** Limits of connections without a certificate that counts. */
const STRANGERS = { max: 200, lifeMs: 30_000 };

export interface EdgeConnections {
  /** Number of open connections of edges. */
  readonly count: number;
  /** Adds a connection of an edge, until its certificate ends; its oldest one is cut if there are too many. */
  add(socket: TLSSocket, leaf: VerifiedLeaf, now: number): void;
  /** Adds a connection that may only enrol, renew, or read why it is refused; the oldest is cut if there are too many. */
  addStranger(socket: TLSSocket): void;
  /** One leaf for each certificate that has a connection. */
  leaves(): readonly VerifiedLeaf[];
  cut(serial: string): void;
  cutEdge(edge: string): void;
}

export function createEdgeConnections(): EdgeConnections {
  /** Connections of each edge, oldest first. */
  const byEdge = new Map<string, Map<TLSSocket, VerifiedLeaf>>();
  const strangers = new Set<TLSSocket>();
  const all = () => [...byEdge.values()].flatMap((own) => [...own]);
  return {
    get count() {
      return byEdge.values().reduce((sum, own) => sum + own.size, 0);
    },
    add(socket, leaf, now) {
      const own = byEdge.get(leaf.edge) ?? new Map<TLSSocket, VerifiedLeaf>();
      byEdge.set(leaf.edge, own);
      if (own.size >= MAX_OF_EDGE) cutOldest(own);
      own.set(socket, leaf);
      endLater(socket, Math.min(MAX_LIFE_MS, leaf.notAfter - now), () => {
        own.delete(socket);
        if (own.size === 0 && byEdge.get(leaf.edge) === own) byEdge.delete(leaf.edge);
      });
    },
    addStranger(socket) {
      if (strangers.size >= STRANGERS.max) cutOldest(strangers);
      strangers.add(socket);
      endLater(socket, STRANGERS.lifeMs, () => strangers.delete(socket));
    },
    leaves: () => [...new Map(all().map(([, leaf]) => [leaf.serial, leaf])).values()],
    cut(serial) {
      for (const [socket, leaf] of all()) if (leaf.serial === serial) socket.destroy();
    },
    cutEdge(edge) {
      for (const socket of [...(byEdge.get(edge)?.keys() ?? [])]) socket.destroy();
    },
  };
}

/** Removes it at once: its close is noticed later. */
function cutOldest(sockets: Pick<Set<TLSSocket>, 'keys' | 'delete'>): void {
  const [oldest] = sockets.keys();
  if (oldest === undefined) return;
  sockets.delete(oldest);
  oldest.destroy();
}

function endLater(socket: TLSSocket, lifeMs: number, onClose: () => void): void {
  const timer = setTimeout(() => socket.destroy(), lifeMs);
  socket.once('close', () => {
    clearTimeout(timer);
    onClose();
  });
}
