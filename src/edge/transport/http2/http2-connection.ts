/**
 * One HTTP/2 connection. Its requests are answered concurrently, and the output of one event-loop turn is written at
 * once. docs/decisions/0310
 */

import type { TLSSocket } from 'node:tls';
import { Roster } from '#lib/roster.ts';
import { handle } from '../../pipeline/handle.ts';
import type { ReceivedRequest } from '../../request.ts';
import type { Secured } from '../../secured.ts';
import type { WrittenHttp2 } from '../../shortcuts/ready-answer.ts';
import { describeRefusal } from '../../stages/access-log.ts';
import type { Client } from '../proxies.ts';
import type { ServerParts } from '../server-parts.ts';
import { Conversation, type ConversationListener, type StreamRequest } from './conversation.ts';
import { formatGoawayNotice, Http2ErrorCode } from './frames.ts';
import type { FieldMaker } from './hpack/decoder.ts';
import { readPlainHead } from './plain.ts';
import { PreparedStreams, type WholeBody } from './prepared.ts';
import { readHttp2Request } from './request.ts';
import type { RequestField } from './request-field.ts';
import { type Outgoing, Sender } from './sender.ts';
import { Http2Viewer } from './viewer.ts';
import type { WriteBuffers } from './write-buffers.ts';

export interface Http2ConnectionOptions {
  readonly socket: TLSSocket;
  readonly secured: Secured;
  readonly fieldMaker: FieldMaker<RequestField>;
  readonly buffers: WriteBuffers;
  /** Counts an opened (1) or closed (-1) stream. */
  countStream(change: 1 | -1): void;
  /** Bounds the streams of all connections; this may cut this very connection. */
  boundStreams(): void;
  /** Called when the connection is closed. */
  onClosed(): void;
}

/** Concurrent streams; a stream beyond them is refused. */
const MAX_STREAMS = 100;
/**
 * Largest amount of body data per write. A slow client keeps twice that in memory, of which the second half is
 * encrypted. A hit of 100 KiB took 54 µs with this value, 73 with twice as much, 58 with 24 KiB. docs/decisions/0371
 */
const WRITE_BYTES = 64 * 1024;
/**
 * Reading stops while more than this is untaken: answers to what the client sends, such as pings, would only add to it.
 */
const MAX_UNTAKEN_BYTES = 512 * 1024;
/** Limit of untaken writes: a small write costs some 500 bytes beside its own. */
const MAX_UNTAKEN_WRITES = 64;
/**
 * Resets by the client, and malformed requests that we reset. Leaving a page with pictures in flight, or seeking in a
 * film, needs that many.
 */
const ODDITIES = { atOnce: 200, perSecond: 20 };
/**
 * Pings, settings, priorities, window updates and frames of unknown types. Earned credit is kept up to some tenths of a
 * second of processor time. docs/decisions/0418
 */
const IDLE_FRAMES = { atOnce: 1_000, perSecond: 100, maxEarned: 100_000 };

export class Http2Connection implements ConversationListener {
  readonly #options: Http2ConnectionOptions;
  readonly #socket: TLSSocket;
  readonly #parts: ServerParts;
  /** The client of every request; `undefined` if each request names its own. */
  readonly #client: Client | undefined;
  /** `undefined` if no request of this connection may get a prepared answer. */
  readonly #prepared: PreparedStreams | undefined;
  readonly #sender: Sender;
  readonly #conversation: Conversation;
  /** Requests that the pipeline answers, until their answers are sent or lost. */
  readonly #viewers = new Roster<Http2Viewer>();
  #requests = 0;
  /** Number of writes that the system has not taken. */
  #writes = 0;
  #isFlushDue = false;
  /** Input is being read; all output is written after it. */
  #isReading = false;
  #isHeld = false;
  /** Received bytes remain to be read after other connections had their turn. */
  #isInterrupted = false;
  /** The connection accepts no new requests and ends with the last one. */
  #isLeaving = false;
  #isOver = false;
  /** Sweeps since the end of the connection was announced; `undefined` if it was not. */
  #drainedSweeps: number | undefined;
  #quietSweeps = 0;
  #isTimed = false;
  /** Sweeps since the system last took a write. */
  #untakenSweeps = 0;
  #sweptDataBytes = 0;

  constructor(options: Http2ConnectionOptions, parts: ServerParts) {
    const { socket } = options;
    this.#options = options;
    this.#socket = socket;
    this.#parts = parts;
    this.#client = parts.proxies.onlyClientOf(socket);
    this.#prepared = this.#openPrepared();
    this.#sender = new Sender(() => this.#planFlush());
    this.#conversation = new Conversation({
      sender: this.#sender,
      fieldMaker: options.fieldMaker,
      maxStreams: MAX_STREAMS,
      // Twice the limit, so that somewhat larger heads get a 431.
      maxListBytes: 2 * parts.limits.maxHeaderBytes,
      oddities: ODDITIES,
      idleFrames: IDLE_FRAMES,
      clock: parts.edge.clock,
      listener: this,
    });
    socket.on('error', ignore); // shows as closed
    socket.on('data', this.#onData);
    socket.on('end', () => this.#endWithLast());
    socket.on('timeout', () => socket.destroy());
    socket.on('close', this.#onClose);
  }

  #openPrepared(): PreparedStreams | undefined {
    if (this.#client?.isTls !== true) return undefined;
    const { edge, connections } = this.#parts;
    return new PreparedStreams(edge, {
      clientAddress: this.#client.address,
      secured: this.#options.secured,
      sendWhole: (streamId, frames, body, outgoing) => this.#sendWhole(streamId, frames, body, outgoing),
      openStream: (id) => {
        this.#options.countStream(1);
        return this.#conversation.open({ id, isWhole: true });
      },
      onEnded: () => {
        connections.noteUnderWay(-1);
        this.#onRequestEnded();
      },
    });
  }

  #sendWhole(streamId: number, frames: WrittenHttp2, { sizeBytes, pieces }: WholeBody, outgoing: Outgoing): boolean {
    const isFull = this.#sender.bytes > 0 && this.#sender.bytes + sizeBytes > WRITE_BYTES;
    if (isFull || this.#socket.writableNeedDrain) return false;
    const rest = frames.dataAt > 0 || sizeBytes === 0 ? [] : pieces;
    if (!this.#sender.sendWhole(streamId, frames, sizeBytes, rest)) return false;
    this.#sender.tell(outgoing);
    this.#planFlush();
    return true;
  }

  // Input.

  readonly #onData = (bytes: Buffer): void => {
    if (this.#isOver) return;
    this.#read(() => this.#conversation.receive(bytes));
  };

  #read(read: () => boolean): void {
    this.#isReading = true;
    this.#isInterrupted = !read();
    this.#isReading = false;
    this.#flush();
    if (!this.#isInterrupted || this.#isOver) return;
    this.#hold();
    setImmediate(this.#goOn);
  }

  readonly #goOn = (): void => {
    if (this.#isOver) return;
    this.#read(() => this.#conversation.goOn());
    this.#readOn();
  };

  #hold(): void {
    this.#isHeld = true;
    this.#socket.pause();
  }

  #readOn(): void {
    if (!this.#isHeld || this.#isInterrupted || this.#isFull) return;
    this.#isHeld = false;
    this.#socket.resume();
  }

  onRequest(asked: StreamRequest): void {
    const { limits, connections, edge } = this.#parts;
    this.#requests += 1;
    this.#quietSweeps = 0;
    const mayBePlain = asked.isWhole && asked.reading === 'whole' && this.#prepared !== undefined;
    const plain = mayBePlain ? readPlainHead(asked.fields, limits.maxHeaderBytes) : undefined;
    if (plain !== undefined && this.#prepared?.answer(asked.id, plain) === true) {
      connections.noteUnderWay(1);
    } else {
      const viewer = this.#openViewer(asked, plain !== undefined);
      if (viewer === undefined) this.#refuse(asked);
      else void connections.serve(viewer, () => handle(viewer, edge)); // never rejects
    }
    if (this.#requests >= limits.maxRequestsPerConnection) this.close();
    this.#options.boundStreams();
  }

  /** Returns `undefined` if the request is malformed. */
  #openViewer(asked: StreamRequest, isPlain: boolean): Http2Viewer | undefined {
    const { edge, limits, proxies } = this.#parts;
    const read = readHttp2Request(asked, limits.maxHeaderBytes);
    if (read === undefined) return undefined;
    const { expectation, lengthBytes, ...request } = read;
    const client = this.#client ?? proxies.clientOf(this.#socket, request.headers);
    const received: ReceivedRequest = {
      ...request,
      isTls: client.isTls,
      secured: this.#options.secured,
      clientAddress: client.address,
      hasUnknownVersion: false,
      hasUnknownExpectation: expectation === 'unknown',
      isPlain,
    };
    this.#options.countStream(1);
    const viewer = new Http2Viewer(this.#conversation.open(asked, lengthBytes), received, {
      expectsContinue: expectation === 'continue',
      idleTimeoutMs: limits.clientIdleMs,
      requestMs: limits.requestMs,
      maxRequestBodyBytes: limits.maxRequestBodyBytes,
      clock: edge.clock,
      onEnded: () => {
        this.#viewers.remove(seat);
        this.#onRequestEnded();
      },
    });
    const seat = this.#viewers.add(viewer);
    return viewer;
  }

  /** Refuses a malformed request. As with malformed HTTP/1.1, none of its fields are logged. RFC 9113 §8.1.1 */
  #refuse(asked: StreamRequest): void {
    const { edge, proxies } = this.#parts;
    const clientAddress = proxies.addressOf(this.#socket);
    const refused = {
      clientAddress,
      status: 400,
      responseBytes: 0,
      endedAt: edge.clock(),
      httpVersion: '2.0',
    } as const;
    edge.metrics.countRequest({ status: 'ERROR', reason: 'malformed' }, refused.status, refused.responseBytes);
    edge.writeLog(0, describeRefusal({ ...refused, head: undefined }));
    this.#conversation.refuse(asked, Http2ErrorCode.protocol);
  }

  onStreamClosed(): void {
    this.#options.countStream(-1);
  }

  #onRequestEnded(): void {
    this.#quietSweeps = 0;
    if (this.#isLeaving) this.#endWithLast();
  }

  onLeaving(): void {
    this.close();
  }

  onBroken(): void {
    this.#end();
  }

  // Output.

  #planFlush(): void {
    if (this.#isFlushDue || this.#isReading) return;
    this.#isFlushDue = true;
    process.nextTick(this.#onFlushDue); // after everything that is ready now
  }

  readonly #onFlushDue = (): void => {
    this.#isFlushDue = false;
    this.#flush();
  };

  #flush(): void {
    const socket = this.#socket;
    if (!socket.writable) return;
    if (!socket.writableNeedDrain) this.#sender.gather(WRITE_BYTES);
    if (this.#sender.bytes === 0) return;
    const { buffers } = this.#options;
    const bytes = buffers.take(this.#sender.bytes);
    const outgoing = this.#sender.takeInto(bytes);
    this.#writes += 1;
    socket.write(bytes, (error) => {
      if (!error) buffers.giveBack(bytes);
      this.#onWritten(outgoing, error);
    });
    if (this.#isFull) this.#hold();
  }

  get #isFull(): boolean {
    return this.#writes > MAX_UNTAKEN_WRITES || this.#socket.writableLength > MAX_UNTAKEN_BYTES;
  }

  #onWritten(outgoing: readonly Outgoing[], error: Error | null | undefined): void {
    this.#writes -= 1;
    this.#untakenSweeps = 0;
    const isOut = error === undefined || error === null;
    for (const one of outgoing) one.noteWritten(isOut);
    if (this.#writes > 0) return;
    if (this.#isTimed) this.#socket.setTimeout(0);
    this.#isTimed = false;
    this.#flush();
    this.#readOn();
  }

  // End of the connection.

  get openStreams(): number {
    return this.#conversation.streams.size;
  }

  /**
   * Called by the worker's timer; `sweepMs` since the last call. Only requests keep a connection open, pings do not.
   */
  sweep(sweepMs: number): void {
    const { requestHeaderMs, keepAliveMs, clientIdleMs } = this.#parts.limits;
    const { dataBytes } = this.#sender;
    const isMoving = dataBytes !== this.#sweptDataBytes;
    this.#sweptDataBytes = dataBytes;
    for (const stream of this.#conversation.streams.values()) stream.sweep(sweepMs, clientIdleMs, isMoving);
    this.#prepared?.sweep();
    if (this.#writes > 0) this.#limitWrite(sweepMs);
    if (this.#drainedSweeps !== undefined && this.#drainedSweeps++ * sweepMs >= GOODBYE_MS) this.close();
    if (this.openStreams > 0 || this.#writes > 0) return;
    const quietMs = this.#quietSweeps++ * sweepMs;
    if (this.#isOver || this.#isLeaving) {
      if (quietMs >= GOODBYE_MS) this.#socket.destroy();
    } else if (quietMs >= (this.#requests === 0 ? requestHeaderMs : keepAliveMs)) this.close();
  }

  /**
   * Limits a write that makes no progress. The socket's own timer counts progress inside a large write and any input: a
   * client that keeps talking has longer, but not forever.
   */
  #limitWrite(sweepMs: number): void {
    const { clientIdleMs, requestMs } = this.#parts.limits;
    if (this.#untakenSweeps++ * sweepMs >= requestMs) this.#socket.destroy();
    if (this.#isTimed) return;
    this.#isTimed = true;
    this.#socket.setTimeout(clientIdleMs);
  }

  /** Asks the client to send further requests elsewhere, and a moment later accepts no more. RFC 9113 §6.8 */
  drain(): void {
    if (this.#drainedSweeps !== undefined || this.#isLeaving || this.#isOver) return;
    this.#drainedSweeps = 0;
    this.#sender.send(formatGoawayNotice());
  }

  /** Accepts no new requests; the connection ends with its last one. */
  close(): void {
    if (this.#isLeaving || this.#isOver) return;
    this.#isLeaving = true;
    this.#quietSweeps = 0;
    this.#conversation.leave();
    this.#endWithLast();
  }

  #endWithLast(): void {
    if (this.openStreams === 0 || this.#socket.readableEnded) this.#end();
  }

  /** Ends the connection after its pending writes. */
  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#quietSweeps = 0;
    this.#conversation.end();
    this.#flush();
    this.#socket.end();
    this.#socket.resume();
  }

  readonly #onClose = (): void => {
    this.#isOver = true;
    this.#conversation.end();
    for (const one of this.#sender.forget()) one.noteWritten(false);
    this.#options.onClosed();
  };

  /** Cuts all requests in flight and closes the connection. */
  cut(): void {
    this.#isOver = true;
    this.#prepared?.cut();
    for (const viewer of this.#viewers.members()) viewer.cut(503);
    this.#conversation.end();
    this.#socket.destroy();
  }
}

/** Time for sending the last frames, and for the client to end its side, or to read that it is to leave. */
const GOODBYE_MS = 1_000;

function ignore(): void {}
