/**
 * The conversation on one connection that we read ourselves: its requests are served one after the other, and with the first that
 * is not for our reader the connection goes to node:http and stays there. docs/decisions/0270
 */
import type { Socket } from 'node:net';
import type { OpenDirectWrite } from '#lib/node-internals/direct-write.ts';
import { pause, type SharedReading } from '#lib/node-internals/shared-reading.ts';
import type { EdgeContext } from '../../context.ts';
import type { EdgeLimits } from '../../limits.ts';
import { concludeUnserved, handle } from '../../pipeline/handle.ts';
import type { ReceivedRequest } from '../../request.ts';
import type { Secured } from '../../secured.ts';
import type { CutStatus } from '../../viewer.ts';
import { watchHalfClosed } from '../half-closed.ts';
import { LINGER_MS } from '../linger.ts';
import type { ClientConnections } from '../node-http/request-turns.ts';
import type { Client, Proxies } from '../proxies.ts';
import { type Untaken, watchUntaken } from '../unsent-bytes.ts';
import { BareViewer, type BareWire } from './bare-viewer.ts';
import { isPlainGet, PreparedReplies } from './prepared.ts';
import { type RequestHead, readHead } from './read-head.ts';
import { type ReadRequest, readOther } from './read-other.ts';

/** What the connections of a worker share. */
export interface BareParts {
  readonly edge: EdgeContext;
  readonly limits: EdgeLimits;
  readonly connections: ClientConnections;
  readonly proxies: Proxies;
  readonly reading: SharedReading;
  readonly openDirectWrite: OpenDirectWrite;
  /** The head of the request that is being read. */
  readonly head: RequestHead;
  readonly keepAliveLines: string;
  /** Gives the connection to node:http, which reads on from here; `rest`: bytes that were read and not answered. */
  giveAway(socket: Socket, requests: number, rest: Buffer): void;
  /** Called when the connection is no longer ours: given away, or closed. */
  onLeft(connection: BareConnection): void;
}

/** Answers that follow each other without a turn of the event loop, while other clients wait. */
const ANSWERS_IN_TURN = 32;

/** A head that comes in more is read again too often. */
const MAX_PIECES = 4;

export class BareConnection implements BareWire {
  readonly socket: Socket;
  readonly secured: Secured | undefined;
  readonly isTls: boolean;
  givenBytes: number;
  readonly #parts: BareParts;
  /** The client of every request; `undefined`: each request names its own. */
  readonly #client: Client | undefined;
  /** `undefined`: no request of it may be answered so. */
  readonly #prepared: PreparedReplies | undefined;
  /** `undefined`: over TLS nobody can tell. */
  readonly #untaken: Untaken | undefined;
  /** Bytes that the system had not taken when the connection was destroyed. */
  #neverTakenBytes = 0;
  #requests = 0;
  /** The request that is being served. */
  #viewer: BareViewer | undefined;
  /** A request is being served, or the next one waits for its turn. */
  #isBusy = false;
  /** Read, and not looked at or not whole yet. */
  #rest: Buffer | undefined;
  /** Reads that the incomplete head has arrived in. */
  #pieces = 0;
  /** Nothing is read. */
  #isHeld = false;
  /** The client has ended its side. */
  #hasEnded = false;
  /** We serve nothing more on it. */
  #isOver = false;
  /** The status that the connection was cut with. */
  #cutStatus: CutStatus | undefined;
  #answersInTurn = 0;
  /** Answers that needed no viewer are not taken; ends what that means. */
  #endStall: (() => void) | undefined;
  /** Sweeps since it last had something to do. */
  #quietSweeps = 0;

  constructor(socket: Socket, parts: BareParts) {
    this.socket = socket;
    this.#parts = parts;
    this.secured = parts.connections.securedOf(socket);
    this.isTls = this.secured !== undefined;
    this.#client = parts.proxies.onlyClientOf(socket);
    this.#untaken = this.isTls ? undefined : watchUntaken(socket);
    this.#prepared = this.#openPrepared();
    this.givenBytes = socket.bytesWritten;
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
    socket.on('timeout', this.#onTimeout);
    socket.on('drain', this.#onDrain);
    socket.on('end', this.#onEnd);
    socket.on('data', this.#onData);
    parts.reading.begin(socket, this.#onData);
  }

  /** `bytes` is only lent: its memory may be reused after this call. */
  readonly #onData = (bytes: Buffer): void => {
    if (this.#isOver) return;
    this.#quietSweeps = 0;
    const all = this.#rest === undefined ? bytes : Buffer.concat([this.#rest, bytes]);
    if (this.#isBusy) {
      this.#keep(all);
      this.#hold();
    } else {
      this.#answersInTurn = 0;
      this.#serveFrom(all);
    }
  };

  #openPrepared(): PreparedReplies | undefined {
    const { socket, secured } = this;
    const { edge, head, keepAliveLines, openDirectWrite } = this.#parts;
    if (this.#client === undefined) return undefined;
    const { address: clientAddress, isTls } = this.#client;
    // By TLS nothing is taken at once.
    const direct = this.isTls ? undefined : openDirectWrite(socket);
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

  /** Serves what is there, up to the first request that the pipeline is to answer. */
  #serveFrom(all: Buffer): void {
    const { head } = this.#parts;
    this.#rest = undefined;
    this.#isBusy = false;
    let bytes = all;
    let reading = readHead(bytes, 0, bytes.length, head);
    while (reading === 'whole' && this.#answerPrepared(bytes)) {
      bytes = head.end === bytes.length ? NOTHING : bytes.subarray(head.end);
      if (this.socket.writableNeedDrain || ++this.#answersInTurn >= ANSWERS_IN_TURN) return void this.#pause(bytes);
      if (bytes.length === 0) break; // nearly always: nothing is read for nothing
      reading = readHead(bytes, 0, bytes.length, head);
    }
    if (bytes.length === 0) return void this.#wait();
    if (reading === 'whole') {
      void this.#serve(this.#openViewer(bytes), bytes.subarray(head.end)); // never rejects
      return;
    }
    this.#keep(bytes);
    if (reading === 'other' || ++this.#pieces > MAX_PIECES) this.#giveAway();
    else this.#wait();
  }

  /** False: the pipeline is to answer. */
  #answerPrepared(bytes: Buffer): boolean {
    const { head, limits, edge } = this.#parts;
    const isLast = head.isLast || this.#requests + 1 >= limits.maxRequestsPerConnection || edge.isClosing();
    const given = isLast ? 0 : (this.#prepared?.answer(bytes, this.givenBytes) ?? 0);
    if (given === 0) return false;
    this.givenBytes += given;
    this.#requests += 1;
    this.#pieces = 0;
    return true;
  }

  /** Answers have piled up, or kept other clients waiting. */
  #pause(rest: Buffer): void {
    this.#keep(rest);
    this.#isBusy = true;
    if (!this.socket.writableNeedDrain) return void setImmediate(this.#goOn);
    this.#hold();
    const { connections, limits } = this.#parts;
    connections.noteUnderWay(1);
    const release = this.#prepared?.hold(this);
    this.socket.setTimeout(limits.clientIdleMs);
    this.#endStall = () => {
      this.#endStall = undefined;
      connections.noteUnderWay(-1);
      release?.();
    };
  }

  readonly #goOn = (): void => {
    if (this.#isOver) return;
    this.#answersInTurn = 0;
    this.#serveFrom(this.#rest ?? NOTHING);
  };

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

  #viewerOf({ headBytes, isLast, ...request }: ReadRequest): BareViewer {
    const { limits, keepAliveLines, proxies } = this.#parts;
    const client = this.#client ?? proxies.clientOf(this.socket, request.headers);
    this.#requests += 1;
    this.#pieces = 0;
    const received: ReceivedRequest = {
      ...request,
      isTls: client.isTls,
      secured: this.secured,
      clientAddress: client.address,
      hasUnknownVersion: false,
      hasUnknownExpectation: false,
    };
    return new BareViewer(this, received, {
      headBytes,
      isLast: isLast || this.#requests >= limits.maxRequestsPerConnection,
      keepAliveLines,
      idleTimeoutMs: limits.clientIdleMs,
    });
  }

  async #serve(viewer: BareViewer, rest: Buffer): Promise<void> {
    const { connections, edge } = this.#parts;
    this.#viewer = viewer;
    this.#isBusy = true;
    if (rest.length > 0) this.#keep(rest);
    await connections.serve(viewer, () => handle(viewer, edge));
    this.#viewer = undefined;
    this.#cutStatus ??= viewer.cutStatus;
    if (this.socket.destroyed) return;
    if (!viewer.isFinished) return void this.destroy();
    if (viewer.isLast || edge.isClosing()) return void this.#endWithAnswer();
    if (this.#rest !== undefined && ++this.#answersInTurn >= ANSWERS_IN_TURN) setImmediate(this.#goOn);
    else this.#serveFrom(this.#rest ?? NOTHING);
  }

  /** Waits for the client's next bytes. */
  #wait(): void {
    this.#isBusy = false;
    this.#quietSweeps = 0;
    if (this.#hasEnded) return void this.#end();
    if (this.#parts.edge.isClosing()) return void this.close();
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.socket.resume();
  }

  #keep(rest: Buffer): void {
    this.#rest = this.#parts.reading.keep(rest);
  }

  #hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    pause(this.socket);
  }

  /**
   * Ends the connection after the last answer. The client may still be sending, and a reset would discard the answer.
   * RFC 9112 §9.6
   */
  #endWithAnswer(): void {
    if (this.#hasEnded) return void this.#end();
    this.#stopServing();
    this.socket.end();
    this.socket.resume();
  }

  /** What was given to the socket still goes out. */
  #end(): void {
    this.#stopServing();
    this.socket.destroySoon();
  }

  #stopServing(): void {
    this.#isOver = true;
    this.#rest = undefined;
    this.#quietSweeps = 0;
    this.socket.setTimeout(this.#parts.limits.clientIdleMs);
  }

  #giveAway(): void {
    const { socket } = this;
    const rest = this.#rest ?? NOTHING;
    this.#isOver = true;
    if (!socket.writable) {
      this.#concludeRest(undefined); // to which no answer would come
      return void socket.destroySoon();
    }
    pause(socket);
    this.#parts.reading.end(socket);
    socket.off('error', this.#onError).off('close', this.#onClose).off('timeout', this.#onTimeout);
    socket.off('drain', this.#onDrain).off('end', this.#onEnd).off('data', this.#onData);
    this.#parts.onLeft(this);
    this.#parts.giveAway(socket, this.#requests, rest);
  }

  readonly #onDrain = (): void => {
    this.#viewer?.noteDrained();
    if (this.#endStall === undefined) return;
    this.#endStall();
    this.socket.setTimeout(0);
    this.#goOn();
  };

  readonly #onTimeout = (): void => this.destroy();

  /** Shows as closed. */
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

  /** The client says no more. It may still read: a client that has left shows when bytes are sent to it. docs/decisions/0325 */
  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    if (!this.#isBusy || this.#isOver) return void this.#end();
    const viewer = this.#viewer;
    if (viewer !== undefined) watchHalfClosed(this.socket, viewer.ended, this.#parts.limits.halfClosedMs);
  };

  readonly #onClose = (): void => {
    const isUnserved = !this.#isOver;
    this.#isOver = true;
    this.#endStall?.();
    this.#parts.onLeft(this);
    this.#viewer?.noteClosed();
    if (isUnserved) this.#concludeRest(this.#cutStatus ?? this.#viewer?.cutStatus);
  };

  /** A line for each request that was read and whose turn does not come. `cutStatus`: absent where the client has left. */
  #concludeRest(cutStatus: CutStatus | undefined): void {
    const { head, edge } = this.#parts;
    let bytes = this.#rest ?? NOTHING;
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

  /** The worker's clock for connections with nothing to do; `sweepMs` since the last time. */
  sweep(sweepMs: number): void {
    if (this.#isBusy && !this.#isOver) return;
    const { limits } = this.#parts;
    const quietMs = this.#quietSweeps++ * sweepMs;
    if (this.#isOver) {
      if (quietMs >= LINGER_MS) this.socket.destroySoon();
    } else if (this.#rest !== undefined) {
      // A head that takes long has node:http's limits and refusals.
      if (quietMs >= Math.min(PATIENCE_MS, limits.requestHeaderMs)) this.#giveAway();
    } else if (this.#requests === 0) {
      if (quietMs >= limits.requestHeaderMs) this.socket.destroy();
    } else if (quietMs >= limits.keepAliveMs) this.#end();
  }

  cut(): void {
    this.#cutStatus ??= 503;
    this.#prepared?.cut();
    this.destroy();
  }

  /** No new requests. */
  close(): void {
    if (this.#isBusy || this.#isOver) return;
    if (this.#rest === undefined) this.#end();
    else this.#giveAway();
  }
}

/** Time to wait for the rest of a head. */
const PATIENCE_MS = 1_000;
const NOTHING = Buffer.alloc(0);
