/** An HTTP/2 connection: its limits, and its streams as requests that are served side by side. docs/decisions/0182 */
import {
  constants,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { RawHeaders } from '#http/headers.ts';
import { describeRefusal } from '../access-log.ts';
import type { ClientConnections } from '../connection.ts';
import type { EdgeContext } from '../context.ts';
import { handle } from '../handle.ts';
import type { EdgeLimits } from '../limits.ts';
import type { Proxies } from '../proxies.ts';
import type { ReceivedRequest } from '../request.ts';
import type { Secured } from '../tls/secured.ts';
import { type Http2Head, readHttp2Request } from './request.ts';
import { createUnheardStreams } from './unheard.ts';
import { Http2Viewer } from './viewer.ts';

export interface Http2Parts {
  readonly edge: EdgeContext;
  readonly limits: EdgeLimits;
  readonly connections: ClientConnections;
  readonly proxies: Proxies;
}

export interface Http2Sessions {
  serve(socket: TLSSocket, secured: Secured): void;
  /** No new requests; each connection ends with its last one. */
  close(): void;
  cutAll(): void;
}

export function createHttp2Sessions(parts: Http2Parts): Http2Sessions {
  const sessions = new Set<ServerHttp2Session>();
  return {
    serve: (socket, secured) => {
      const session = performServerHandshake(socket, sessionOptions(parts.limits));
      sessions.add(session);
      session.once('close', () => sessions.delete(session));
      session.on('error', ignore);
      serveSession(session, socket, secured, parts);
    },
    close: () => {
      for (const session of sessions) session.close();
    },
    cutAll: () => {
      for (const session of sessions) session.destroy();
    },
  };
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

const MAX_STREAMS = 100;
/** As few bytes as a field can have, so many fit into the header section. */
const MAX_FIELDS = 2048;
/** Node counts a write with its whole buffer, though that is shared with other clients. */
const MAX_SESSION_MIB = 128;
/** A page that is left with all its pictures on the way, and somebody who looks for a place in a film. */
const RESETS_AT_ONCE = 200;
const RESETS_PER_SECOND = 20;

function serveSession(session: ServerHttp2Session, socket: TLSSocket, secured: Secured, parts: Http2Parts): void {
  const { edge, limits, connections } = parts;
  let requests = 0;
  let open = 0;
  let idle: NodeJS.Timeout;
  const unheard = createUnheardStreams();
  const address = parts.proxies.addressOf(socket);
  const note = (count: number) => {
    for (let i = 0; i < count; i++) noteRefused(edge, address);
  };
  const end = () => {
    note(unheard.upTo(session.state.lastProcStreamID));
    session.close();
    idle = setTimeout(() => session.destroy(), GOODBYE_MS);
  };
  // Pings keep nothing open: only requests do.
  idle = setTimeout(end, limits.requestHeaderMs);
  session.once('close', () => clearTimeout(idle));
  // Before Node's own listener, which takes from the session what it knows.
  socket.prependListener('close', () => note(unheard.upTo(session.state.lastProcStreamID)));
  session.on('stream', (stream, _headers, flags, fields: RawHeaders) => {
    note(unheard.before(stream.id ?? 0));
    requests += 1;
    open += 1;
    if (open >= MAX_STREAMS) unheard.noteFull();
    clearTimeout(idle);
    stream.once('close', () => {
      open -= 1;
      if (open === 0 && !session.destroyed) idle = setTimeout(end, limits.keepAliveMs);
    });
    const viewer = openViewer(stream, { fields, isWhole: (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0 });
    void connections.serve(viewer, () => handle(viewer, edge)); // never rejects
    if (requests >= limits.maxRequestsPerConnection) session.close();
  });

  const openViewer = (stream: ServerHttp2Stream, head: Http2Head): Http2Viewer => {
    const { expectation, ...request } = readHttp2Request(head, limits.maxHeaderBytes);
    const client = parts.proxies.clientOf(socket, request.headers);
    const received: ReceivedRequest = {
      ...request,
      isTls: client.isTls,
      secured,
      clientAddress: client.address,
      hasUnknownVersion: false,
      hasUnknownExpectation: expectation === 'unknown',
    };
    return new Http2Viewer(stream, received, {
      expectsContinue: expectation === 'continue',
      isWhole: head.isWhole,
      idleTimeoutMs: limits.clientIdleMs,
      requestMs: limits.requestMs,
      maxRequestBodyBytes: limits.maxRequestBodyBytes,
      clock: edge.clock,
    });
  };
}

/** As one that is no HTTP/1.1: nothing of it is known here. */
function noteRefused({ clock, metrics, writeLog }: EdgeContext, clientAddress: string): void {
  const refused = { clientAddress, status: 400, responseBytes: 0, endedAt: clock(), httpVersion: '2.0' } as const;
  metrics.countRequest({ status: 'ERROR', reason: 'malformed' }, refused.status, refused.responseBytes);
  writeLog(0, describeRefusal({ ...refused, head: undefined }));
}

/** For the last frames to leave. */
const GOODBYE_MS = 1_000;

function ignore(): void {} // shows as closed
