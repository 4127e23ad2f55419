/** A worker's HTTP/1.1 connections that our own reader parses: accepted, swept, and ended with the edge. */
import type { Socket } from 'node:net';
import { createLentWriter } from '#lib/lent-writer.ts';
import { createDirectWrites } from '#lib/node-internals/direct-write.ts';
import { createSharedReading } from '#lib/node-internals/shared-reading.ts';
import { createSweptConnections } from '#lib/swept.ts';
import { sweepMsOf } from '../idle-sweep.ts';
import { LINGER_MS } from '../linger.ts';
import type { ServerParts } from '../server-parts.ts';
import { keepAliveLines } from './framing.ts';
import { Http1Connection, type Http1Parts } from './http1-connection.ts';
import { RequestHead } from './read-head.ts';

export interface Http1Connections {
  take(socket: Socket): void;
  /** Keeps connections that are idle now, or become idle, for `idleMs`. */
  drain(idleMs: number): void;
  /** Ends idle connections at once, the others after their answer. */
  close(): void;
  cutAll(): void;
}

/** Answers of one connection within one turn of the event loop, while other clients wait. */
const ANSWERS_IN_TURN = 32;
/** Time to wait for the rest of a head. */
const PATIENCE_MS = 1_000;

/** `giveAway` hands a connection to node:http, with the bytes that were read and not served. */
export function createHttp1Connections(
  parts: ServerParts,
  giveAway: (socket: Socket, rest: Buffer) => void,
): Http1Connections {
  const { limits, connections } = parts;
  const open = createSweptConnections<Http1Connection>(sweepMsOf(limits));
  let { keepAliveMs } = limits;
  const shared: Http1Parts = {
    ...parts,
    conversation: {
      reading: createSharedReading(),
      answersInTurn: ANSWERS_IN_TURN,
      patienceMs: Math.min(PATIENCE_MS, limits.requestHeaderMs),
      lingerMs: LINGER_MS,
      endIdleMs: limits.clientIdleMs,
      isClosing: () => parts.edge.isClosing(),
    },
    openDirectWrite: createDirectWrites(),
    lentWriter: createLentWriter(),
    head: new RequestHead(),
    keepAliveLines: keepAliveLines(limits.keepAliveMs),
    keepAliveMs: () => keepAliveMs,
    giveAway: (socket, requests, rest) => {
      connections.countBefore(socket, requests);
      giveAway(socket, rest);
    },
    onLeft: open.delete,
  };
  return {
    take: (socket) => open.add(new Http1Connection(socket, shared)),
    drain: (idleMs) => {
      keepAliveMs = Math.min(keepAliveMs, idleMs);
      for (const one of open.all) one.drain();
    },
    close: open.close,
    cutAll: open.cutAll,
  };
}
