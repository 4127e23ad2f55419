/** A worker's HTTP/2 connections: taken with their limits, looked after, and ended with the edge. docs/decisions/0182 */
import { performServerHandshake, type ServerOptions } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { EdgeLimits } from '../limits.ts';
import { createSwept } from '../swept.ts';
import type { Secured } from '../tls/secured.ts';
import { Http2Connection, type Http2Parts, MAX_STREAMS } from './connection.ts';

export interface Http2Sessions {
  serve(socket: TLSSocket, secured: Secured): void;
  /** No new requests; each connection ends with its last one. */
  close(): void;
  cutAll(): void;
}

export function createHttp2Sessions(parts: Http2Parts): Http2Sessions {
  const open = createSwept<Http2Connection>(parts.limits);
  let streams = 0;
  const countStream = (change: 1 | -1): void => {
    streams += change;
    if (change === -1 || streams <= parts.limits.maxHttp2Streams) return;
    const largest = findLargest(open.all);
    if (largest === undefined) return;
    open.delete(largest); // its streams close in a moment, and are not asked for twice
    largest.cut();
  };
  return {
    serve: (socket, secured) => {
      const session = performServerHandshake(socket, sessionOptions(parts.limits));
      const connection = new Http2Connection({ session, socket, secured, countStream }, parts);
      open.add(connection);
      session.once('close', () => open.delete(connection));
    },
    close: () => {
      for (const { session } of open.all) session.close();
    },
    cutAll: () => {
      for (const connection of open.all) connection.cut();
    },
  };
}

function findLargest(connections: Iterable<Http2Connection>): Http2Connection | undefined {
  let largest: Http2Connection | undefined;
  for (const one of connections) if (one.openStreams > (largest?.openStreams ?? 0)) largest = one;
  return largest;
}

/** What nghttp2 and Node refuse by themselves; a connection that goes on all the same is ended by them. */
function sessionOptions({ maxHeaderBytes }: EdgeLimits): ServerOptions {
  return {
    settings: {
      maxConcurrentStreams: MAX_STREAMS,
      // Room to answer 431 to what is somewhat too large; beyond it the stream is reset.
      maxHeaderListSize: 2 * maxHeaderBytes,
      enablePush: false,
    },
    maxHeaderListPairs: MAX_FIELDS,
    maxSessionMemory: MAX_SESSION_MIB,
    maxSettings: 32,
    maxOutstandingPings: 10,
    streamResetBurst: RESETS_AT_ONCE,
    streamResetRate: RESETS_PER_SECOND,
    // An origin's answer may repeat a field, as over HTTP/1.1.
    strictSingleValueFields: false,
  };
}

/** As few bytes as a field can have, so many fit into the header section. */
const MAX_FIELDS = 2048;
/** Node counts a write with its whole buffer, though that is shared with other clients. */
const MAX_SESSION_MIB = 128;
/** A page that is left with all its pictures on the way, and somebody who looks for a place in a film. */
const RESETS_AT_ONCE = 200;
const RESETS_PER_SECOND = 20;
