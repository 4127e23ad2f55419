/** A worker's HTTP/2 connections: accepted, swept, and ended with the edge. docs/decisions/0310 */
import type { TLSSocket } from 'node:tls';
import { createSweptConnections } from '#lib/swept.ts';
import type { Secured } from '../../secured.ts';
import { sweepMsOf } from '../idle-sweep.ts';
import type { ServerParts } from '../server-parts.ts';
import { createFieldMaker } from './hpack/decoder.ts';
import { Http2Connection } from './http2-connection.ts';
import { makeRequestField } from './request-field.ts';
import { createWriteBuffers } from './write-buffers.ts';

export interface Http2Sessions {
  serve(socket: TLSSocket, secured: Secured): void;
  /** Asks the clients of all connections, later ones too, to continue on other connections. */
  drain(): void;
  /** Accepts no new requests; each connection ends with its last one. */
  close(): void;
  cutAll(): void;
}

export function createHttp2Sessions(parts: ServerParts): Http2Sessions {
  const open = createSweptConnections<Http2Connection>(sweepMsOf(parts.limits));
  const fieldMaker = createFieldMaker(makeRequestField);
  const buffers = createWriteBuffers();
  let streams = 0;
  let isDraining = false;
  const countStream = (change: 1 | -1): void => {
    streams += change;
  };
  const boundStreams = (): void => {
    if (streams <= parts.limits.maxHttp2Streams) return;
    const largest = findLargest(open.all);
    if (largest === undefined) return;
    open.delete(largest); // its streams close soon; it must not be chosen twice
    largest.cut();
  };
  return {
    serve: (socket, secured) => {
      const connection: Http2Connection = new Http2Connection(
        { socket, secured, fieldMaker, buffers, countStream, boundStreams, onClosed: () => open.delete(connection) },
        parts,
      );
      open.add(connection);
      if (isDraining) connection.drain();
    },
    drain: () => {
      isDraining = true;
      for (const one of open.all) one.drain();
    },
    close: open.close,
    cutAll: open.cutAll,
  };
}

function findLargest(connections: Iterable<Http2Connection>): Http2Connection | undefined {
  let largest: Http2Connection | undefined;
  for (const one of connections) if (one.openStreams > (largest?.openStreams ?? 0)) largest = one;
  return largest;
}
