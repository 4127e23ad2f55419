/**
 * One HTTP/1.1 connection that our own reader parses. Its requests are served one at a time. The first request that
 * this reader does not accept moves the connection to node:http for good. docs/decisions/0270
 */
import type { Socket } from 'node:net';
import { ByteConversation, type ConversationOptions, type ConversationOwner } from '#lib/byte-conversation.ts';
import { after } from '#lib/future.ts';
import type { LentWriter } from '#lib/lent-writer.ts';
import type { DirectWrite, OpenDirectWrite } from '#lib/node-internals/direct-write.ts';
import { Untaken } from '#lib/node-internals/unsent-bytes.ts';
import { concludeUnserved, handle } from '../../pipeline/handle.ts';
import type { ReceivedRequest } from '../../request.ts';
import type { Secured } from '../../secured.ts';
import type { CutStatus } from '../../viewer.ts';
import { watchHalfClosed } from '../half-closed.ts';
import type { Client } from '../proxies.ts';
import type { ServerParts } from '../server-parts.ts';
import { BareViewer, type BareWire } from './bare-viewer.ts';
import { isPlainGet, PreparedReplies } from './prepared.ts';
import { type RequestHead, readHead } from './read-head.ts';
import { type ReadRequest, readOther } from './read-other.ts';

/** What the connections of a worker share. */
export interface Http1Parts extends ServerParts {
  readonly conversation: ConversationOptions;
  readonly openDirectWrite: OpenDirectWrite;
  readonly lentWriter: LentWriter;
  /** The head of the request that is being read. */
  readonly head: RequestHead;
  readonly keepAliveLines: string;
  /** Returns how long an idle connection is kept. */
  keepAliveMs(): number;
  /** Hands the connection over to node:http. `rest`: bytes that were read and not answered. */
  giveAway(socket: Socket, requests: number, rest: Buffer): void;
  /** Called when the connection was handed over or has closed. */
  onLeft(connection: Http1Connection): void;
}

export class Http1Connection implements BareWire, ConversationOwner {
  readonly socket: Socket;
  readonly secured: Secured | undefined;
  readonly isTls: boolean;
  /** `undefined` over TLS, where writes are never synchronous. */
  readonly direct: DirectWrite | undefined;
  readonly lentWriter: LentWriter;
  givenBytes: number;
  readonly #parts: Http1Parts;
  /** The client of every request; `undefined` if each request names its own. */
  readonly #client: Client | undefined;
  /** `undefined` if no request of this connection may get a prepared answer. */
  readonly #prepared: PreparedReplies | undefined;
  /** `undefined` over TLS, where untaken bytes cannot be counted. */
  readonly #untaken: Untaken | undefined;
  readonly #conversation: ByteConversation;
  /** Bytes that the system had not taken when the connection was destroyed. */
  #neverTakenBytes = 0;
  #requests = 0;
  /** The request that is being served. */
  #viewer: BareViewer | undefined;
  /** The status that the connection was cut with. */
  #cutStatus: CutStatus | undefined;
  /** Ends the claim on a body that a stalled client keeps in memory. */
  #releaseHeld: (() => void) | undefined;

  constructor(socket: Socket, parts: Http1Parts) {
    this.socket = socket;
    this.#parts = parts;
    this.secured = parts.connections.securedOf(socket);
    this.isTls = this.secured !== undefined;
    this.#client = parts.proxies.onlyClientOf(socket);
    this.direct = this.isTls ? undefined : parts.openDirectWrite(socket);
    this.lentWriter = parts.lentWriter;
    this.#untaken = this.isTls ? undefined : new Untaken(socket);
    this.#prepared = this.#openPrepared();
    this.givenBytes = socket.bytesWritten;
    socket.on('error', this.#onError);
    socket.on('timeout', this.#onTimeout);
    this.#conversation = new ByteConversation(socket, this, parts.conversation);
  }

  #openPrepared(): PreparedReplies | undefined {
    const { socket, secured, direct } = this;
    const { edge, head, keepAliveLines } = this.#parts;
    if (this.#client === undefined) return undefined;
    const { address: clientAddress, isTls } = this.#client;
    const takenBytes = () => this.takenBytes;
    return new PreparedReplies(edge, {
      socket,
      takenBytes,
      clientAddress,
      head,
      isTls,
      secured,
      direct,
      keepAliveLines,
    });
  }

  read(all: Buffer): void {
    const { head } = this.#parts;
    const conversation = this.#conversation;
    let bytes = all;
    let reading = readHead(bytes, 0, bytes.length, head);
    while (reading === 'whole' && this.#answerPrepared(bytes)) {
      bytes = head.end === bytes.length ? NOTHING : bytes.subarray(head.end);
      if (conversation.endsTurn()) return void conversation.pause(bytes);
      if (bytes.length === 0) return void conversation.wait(); // the usual case; avoids parsing an empty buffer
      reading = readHead(bytes, 0, bytes.length, head);
    }
    if (reading === 'whole') this.#serve(this.#openViewer(bytes), bytes.subarray(head.end));
    else conversation.keepPartial(bytes, reading === 'incomplete');
  }

  /** Returns false if the pipeline must answer. */
  #answerPrepared(bytes: Buffer): boolean {
    const { head, limits, edge } = this.#parts;
    const isLast = head.isLast || this.#requests + 1 >= limits.maxRequestsPerConnection || edge.isDraining();
    const given = isLast ? 0 : (this.#prepared?.answer(bytes, this.givenBytes) ?? 0);
    if (given === 0) return false;
    this.givenBytes += given;
    this.#requests += 1;
    return true;
  }

  onStall(isStalled: boolean): void {
    const { connections, limits } = this.#parts;
    connections.noteUnderWay(isStalled ? 1 : -1);
    this.socket.setTimeout(isStalled ? limits.clientIdleMs : 0);
    this.#releaseHeld?.();
    this.#releaseHeld = isStalled ? this.#prepared?.hold(this) : undefined;
  }

  #openViewer(bytes: Buffer): BareViewer {
    const { head } = this.#parts;
    return this.#viewerOf({
      method: head.isHead ? 'HEAD' : 'GET',
      target: bytes.toString('latin1', head.targetStart, head.targetEnd),
      httpVersion: '1.1',
      headers: head.rawHeaders(bytes),
      headBytes: head.end,
      isLast: head.isLast,
      isPlain: this.#prepared !== undefined && isPlainGet(head),
    });
  }

  #viewerOf(request: ReadRequest): BareViewer {
    const { limits, keepAliveLines, proxies } = this.#parts;
    const client = this.#client ?? proxies.clientOf(this.socket, request.headers);
    this.#requests += 1;
    const received: ReceivedRequest = {
      method: request.method,
      target: request.target,
      httpVersion: request.httpVersion,
      headers: request.headers,
      isPlain: request.isPlain === true,
      isTls: client.isTls,
      secured: this.secured,
      clientAddress: client.address,
      hasUnknownVersion: false,
      hasUnknownExpectation: false,
    };
    return new BareViewer(this, received, {
      headBytes: request.headBytes,
      isLast: request.isLast || this.#requests >= limits.maxRequestsPerConnection,
      keepAliveLines,
      idleTimeoutMs: limits.clientIdleMs,
    });
  }

  #serve(viewer: BareViewer, rest: Buffer): void {
    const { connections, edge } = this.#parts;
    this.#viewer = viewer;
    this.#conversation.begin(rest);
    const served = connections.serve(viewer, () => handle(viewer, edge));
    void after(served, () => this.#onServed(viewer)); // never rejects
  }

  #onServed(viewer: BareViewer): void {
    const { edge } = this.#parts;
    this.#viewer = undefined;
    this.#cutStatus ??= viewer.cutStatus;
    if (!viewer.isFinished) {
      this.destroy();
      viewer.noteClosed(); // it is not this connection's any more when the socket reports that
    }
    if (this.socket.destroyed) return;
    if (viewer.isLast || edge.isClosing()) this.#conversation.endBehindAnswer();
    else this.#conversation.next();
  }

  onHandedOver(rest: Buffer): void {
    this.socket.off('error', this.#onError).off('timeout', this.#onTimeout);
    this.#parts.onLeft(this);
    this.#parts.giveAway(this.socket, this.#requests, rest);
  }

  onDrain(): void {
    this.#viewer?.noteDrained();
  }

  readonly #onTimeout = (): void => this.destroy();

  /** An error is followed by `close`, which ends the request. */
  readonly #onError = (): void => {
    this.#neverTakenBytes = this.#untaken?.bytes ?? 0;
  };

  get takenBytes(): number {
    return this.socket.bytesWritten - this.#neverTakenBytes;
  }

  destroy(): void {
    if (!this.socket.destroyed) this.#neverTakenBytes = this.#untaken?.bytes ?? 0;
    this.socket.destroy();
  }

  onPartialEnded(): void {
    this.#conversation.end();
  }

  /** Whether the client has left shows when bytes are sent to it. docs/decisions/0325 */
  onHalfClosed(): void {
    const viewer = this.#viewer;
    if (viewer !== undefined) watchHalfClosed(this.socket, viewer.ended, this.#parts.limits.halfClosedMs);
  }

  onClosed(): void {
    this.#parts.onLeft(this);
    this.#viewer?.noteClosed();
  }

  /**
   * Writes a log line for each request in `rest` that will not be served. The status is 499, unless we cut the
   * connection.
   */
  onLost(rest: Buffer): void {
    const { head, edge } = this.#parts;
    const cutStatus = this.#cutStatus ?? this.#viewer?.cutStatus;
    let bytes = rest;
    for (;;) {
      const isOurs = readHead(bytes, 0, bytes.length, head) === 'whole';
      const other = isOurs ? undefined : readOther(bytes);
      if (!isOurs && other === undefined) return;
      const viewer = other === undefined ? this.#openViewer(bytes) : this.#viewerOf(other);
      bytes = bytes.subarray(other?.wholeBytes ?? head.end);
      viewer.noteClosed();
      concludeUnserved(viewer, edge, cutStatus);
    }
  }

  onQuiet(quietMs: number): void {
    if (this.#requests > 0) {
      if (quietMs >= this.#parts.keepAliveMs()) this.#conversation.end();
    } else if (quietMs >= this.#parts.limits.requestHeaderMs) this.socket.destroy();
  }

  sweep(sweepMs: number): void {
    this.#conversation.sweep(sweepMs);
  }

  cut(): void {
    this.#cutStatus ??= 503;
    this.#prepared?.cut();
    this.destroy();
  }

  /** Serves no new requests. */
  close(): void {
    this.#conversation.close();
  }

  /** Counts idle time anew. */
  drain(): void {
    this.#conversation.restartQuiet();
  }
}

const NOTHING = Buffer.alloc(0);
