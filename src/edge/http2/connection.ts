/** The conversation on one HTTP/2 connection: its streams are requests that are served side by side. docs/decisions/0182, 0273 */
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { RawHeaders } from '#http/headers.ts';
import { describeRefusal } from '../access-log.ts';
import type { ClientConnections } from '../connection.ts';
import type { EdgeContext } from '../context.ts';
import { handle } from '../handle.ts';
import type { EdgeLimits } from '../limits.ts';
import type { Client, Proxies } from '../proxies.ts';
import type { ReceivedRequest } from '../request.ts';
import type { Secured } from '../tls/secured.ts';
import { readPlainHead } from './plain.ts';
import { PreparedStreams } from './prepared.ts';
import { readHttp2Request } from './request.ts';
import { createUnheardStreams } from './unheard.ts';
import { Http2Viewer } from './viewer.ts';

export interface Http2Parts {
  readonly edge: EdgeContext;
  readonly limits: EdgeLimits;
  readonly connections: ClientConnections;
  readonly proxies: Proxies;
}

export interface Http2ConnectionOptions {
  readonly session: ServerHttp2Session;
  readonly socket: TLSSocket;
  readonly secured: Secured;
  /** A stream more is open, or one less. */
  countStream(change: 1 | -1): void;
}

/** At once; what a client opens beyond them is refused. */
export const MAX_STREAMS = 100;

export class Http2Connection {
  readonly session: ServerHttp2Session;
  readonly #socket: TLSSocket;
  readonly #secured: Secured;
  readonly #parts: Http2Parts;
  /** Of every request; `undefined`: each of them says. */
  readonly #client: Client | undefined;
  /** `undefined`: no request of it may be answered so. */
  readonly #prepared: PreparedStreams | undefined;
  readonly #unheard = createUnheardStreams();
  readonly #countStream: Http2ConnectionOptions['countStream'];
  /** Of streams that the pipeline answers. */
  readonly #viewers = new Set<Http2Viewer>();
  #requests = 0;
  #open = 0;
  #quietSweeps = 0;
  #isEnding = false;

  constructor({ session, socket, secured, countStream }: Http2ConnectionOptions, parts: Http2Parts) {
    this.session = session;
    this.#socket = socket;
    this.#secured = secured;
    this.#countStream = countStream;
    this.#parts = parts;
    this.#client = parts.proxies.onlyClientOf(socket);
    this.#prepared = this.#openPrepared();
    session.on('error', ignore);
    session.on('stream', this.#onStream);
    // Before Node's own listener, which takes from the session what it knows.
    socket.prependListener('close', () => this.#noteUnheard(this.#unheard.upTo(session.state.lastProcStreamID)));
  }

  #openPrepared(): PreparedStreams | undefined {
    if (this.#client?.isTls !== true) return undefined;
    return new PreparedStreams(this.#parts.edge, {
      clientAddress: this.#client.address,
      secured: this.#secured,
      idleTimeoutMs: this.#parts.limits.clientIdleMs,
      onClosed: () => {
        this.#parts.connections.noteUnderWay(-1);
        this.#onStreamClosed();
      },
    });
  }

  readonly #onStream = (stream: ServerHttp2Stream, _headers: unknown, flags: number, fields: RawHeaders): void => {
    const { limits, connections, edge } = this.#parts;
    this.#noteUnheard(this.#unheard.before(stream.id ?? 0));
    this.#requests += 1;
    this.#open += 1;
    if (this.#open >= MAX_STREAMS) this.#unheard.noteFull();
    const isWhole = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    const plain = isWhole && this.#prepared !== undefined ? readPlainHead(fields, limits.maxHeaderBytes) : undefined;
    if (plain !== undefined && this.#prepared?.answer(stream, plain) === true) {
      connections.noteUnderWay(1);
    } else {
      const viewer = this.#openViewer(stream, fields, { isWhole, isPlain: plain !== undefined });
      this.#viewers.add(viewer);
      stream.once('close', () => {
        this.#viewers.delete(viewer);
        this.#onStreamClosed();
      });
      void connections.serve(viewer, () => handle(viewer, edge)); // never rejects
    }
    if (this.#requests >= limits.maxRequestsPerConnection) this.session.close();
    this.#countStream(1); // which may end this very connection
  };

  readonly #onStreamClosed = (): void => {
    this.#open -= 1;
    this.#countStream(-1);
    this.#quietSweeps = 0;
  };

  #openViewer(
    stream: ServerHttp2Stream,
    fields: RawHeaders,
    { isWhole, isPlain }: { readonly isWhole: boolean; readonly isPlain: boolean },
  ): Http2Viewer {
    const { edge, limits, proxies } = this.#parts;
    const { expectation, ...request } = readHttp2Request({ fields, isWhole }, limits.maxHeaderBytes);
    const client = this.#client ?? proxies.clientOf(this.#socket, request.headers);
    const received: ReceivedRequest = {
      ...request,
      isTls: client.isTls,
      secured: this.#secured,
      clientAddress: client.address,
      hasUnknownVersion: false,
      hasUnknownExpectation: expectation === 'unknown',
      isPlain,
    };
    return new Http2Viewer(stream, received, {
      expectsContinue: expectation === 'continue',
      isWhole,
      idleTimeoutMs: limits.clientIdleMs,
      requestMs: limits.requestMs,
      maxRequestBodyBytes: limits.maxRequestBodyBytes,
      clock: edge.clock,
    });
  }

  get openStreams(): number {
    return this.#open;
  }

  #noteUnheard(count: number): void {
    for (let i = 0; i < count; i++) noteRefused(this.#parts.edge, this.#parts.proxies.addressOf(this.#socket));
  }

  /** The worker's clock; `sweepMs` since the last time. Pings keep nothing open: only requests do. */
  sweep(sweepMs: number): void {
    if (this.#open > 0) return void this.#prepared?.sweep();
    const { requestHeaderMs, keepAliveMs } = this.#parts.limits;
    const quietMs = this.#quietSweeps++ * sweepMs;
    if (quietMs >= (this.#requests === 0 ? requestHeaderMs : keepAliveMs)) this.#end();
  }

  #end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#noteUnheard(this.#unheard.upTo(this.session.state.lastProcStreamID));
    this.session.close();
    const timer = setTimeout(() => this.session.destroy(), GOODBYE_MS);
    this.session.once('close', () => clearTimeout(timer));
  }

  /** What is under way is not finished. */
  cut(): void {
    this.#prepared?.cut();
    for (const viewer of this.#viewers) viewer.cut(503);
    this.session.destroy();
  }
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
