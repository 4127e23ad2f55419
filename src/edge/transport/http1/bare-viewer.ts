/** One GET or HEAD over HTTP/1.1 that our own reader parsed. Its answer is written to the socket without node:http. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { formatHead } from '#http/head-text.ts';
import { type RawHeaders, withoutHopByHop } from '#http/headers.ts';
import { type Cancellation, CancellationSource } from '#lib/cancellation.ts';
import { steadyClock } from '#lib/clock.ts';
import type { LentWriter } from '#lib/lent-writer.ts';
import type { DirectWrite } from '#lib/node-internals/direct-write.ts';
import { ownBytes } from '#lib/own-bytes.ts';
import { createIncomingBody, type IncomingBody } from '../../incoming-body.ts';
import type { ReceivedRequest } from '../../request.ts';
import { type CutStatus, NOT_IN_INTERIM, type Viewer } from '../../viewer.ts';
import { CLOSE_LINE, type Framing, readFraming } from './framing.ts';

/** State shared by the answers of one connection. */
export interface BareWire {
  readonly socket: Socket;
  /** True over TLS, where the system never takes a write synchronously. */
  readonly isTls: boolean;
  /** `undefined`: only the socket's stream can write. */
  readonly direct: DirectWrite | undefined;
  readonly lentWriter: LentWriter;
  /** Bytes given to the socket in total. */
  givenBytes: number;
  /** Bytes of `givenBytes` that the system has taken. */
  readonly takenBytes: number;
  /** Closes the connection at once. */
  destroy(): void;
}

export interface BareViewerOptions {
  /** Size of the head on the wire. */
  readonly headBytes: number;
  /** The connection carries no further request. */
  readonly isLast: boolean;
  /** The `Connection` and `Keep-Alive` lines of the head. */
  readonly keepAliveLines: string;
  /** Longest wait for a slow client to take bytes. */
  readonly idleTimeoutMs: number;
}

export class BareViewer implements Viewer {
  readonly received: ReceivedRequest;
  readonly #wire: BareWire;
  readonly #socket: Socket;
  readonly #options: BareViewerOptions;
  begunAt: number | undefined;
  #statusSent = 0;
  #head:
    | { readonly status: number; readonly reason: string; readonly headers: RawHeaders; readonly isEndless: boolean }
    | undefined;
  /** How the body ends; `undefined` until the head is sent. */
  #framing: Framing | undefined;
  /** Bytes of the announced length that were not given yet. */
  #bytesLeft = 0;
  /** Bytes of this answer given to the socket. */
  #givenBytes = 0;
  #isAllGiven = false;
  #isFinished = false;
  #isGone = false;
  #isLast: boolean;
  #cutStatus: CutStatus | undefined;
  // Created on first use: most answers wait for nothing.
  #gone: CancellationSource | undefined;
  #ended: PromiseWithResolvers<void> | undefined;
  #room: PromiseWithResolvers<void> | undefined;

  constructor(wire: BareWire, received: ReceivedRequest, options: BareViewerOptions) {
    this.received = received;
    this.#wire = wire;
    this.#socket = wire.socket;
    this.#options = options;
    this.#isLast = options.isLast;
  }

  get signal(): Cancellation {
    if (this.#gone === undefined) {
      this.#gone = new CancellationSource();
      if (this.#isGone) this.#gone.abort();
    }
    return this.#gone;
  }

  get statusSent(): number {
    return this.#statusSent;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  get ended(): Promise<void> {
    if (this.#isFinished || this.#isGone) return DONE;
    this.#ended ??= Promise.withResolvers();
    return this.#ended.promise;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  get receivedBytes(): number {
    return this.#options.headBytes;
  }

  get sentBytes(): number {
    if (this.#isFinished) return this.#givenBytes;
    // All earlier answers are sent, so the bytes that the socket still holds belong to this one.
    return Math.max(0, this.#givenBytes - (this.#wire.givenBytes - this.#wire.takenBytes));
  }

  readonly maxBodyBytes = 0;

  /** Requests with a body are not served here. */
  openBody(): IncomingBody {
    const limits = { maxBytes: 0, idleTimeoutMs: this.#options.idleTimeoutMs };
    return createIncomingBody(Readable.from([]), { ...limits, onStart: () => undefined });
  }

  sendInterim(status: number, headers: RawHeaders): void {
    if (this.#statusSent !== 0 || this.#isGone || this.#socket.destroyed || this.queuedBytes > 0) return;
    const kept = withoutHopByHop(headers, NOT_IN_INTERIM);
    this.#give(formatHead(status, STATUS_CODES[status] ?? 'unknown', kept), NOTHING, '', false);
  }

  sendHead(status: number, reason: string, headers: RawHeaders, isEndless = false): void {
    if (this.#isGone || this.isBegun) return;
    this.#head = { status, reason, headers, isEndless };
    this.#statusSent = status;
  }

  get isBegun(): boolean {
    return this.#framing !== undefined;
  }

  /** Whether the connection ends with this answer. Its request, its head or the request limit can say so. */
  get isLast(): boolean {
    return this.#isLast;
  }

  /** Always `undefined`: node:http serves requests that ask for an upgrade. */
  switchProtocols(): undefined {
    return undefined;
  }

  /** Returns the head to be written before the next bytes; empty if it was already written. */
  #takeHead(): string {
    if (this.#head === undefined) return '';
    const { status, reason, headers, isEndless } = this.#head;
    const { framing, lengthBytes, connection, lines } = readFraming(this.received.method, status, headers, isEndless);
    const own = connection !== undefined ? '' : this.#isLast ? CLOSE_LINE : this.#options.keepAliveLines;
    const text = formatHead(status, reason, headers, own + lines);
    this.#head = undefined;
    this.begunAt = steadyClock();
    this.#framing = framing;
    this.#bytesLeft = lengthBytes;
    if (connection === 'close') this.#isLast = true;
    return text;
  }

  write(chunk: Buffer): boolean {
    return this.#put(chunk, false);
  }

  writeLent(chunk: Buffer): boolean {
    return this.#wire.direct === undefined ? this.#put(ownBytes([chunk]), false) : this.#put(chunk, true);
  }

  #put(chunk: Buffer, isLent: boolean): boolean {
    if (this.#isGone || this.#socket.destroyed || chunk.length === 0) return true;
    const head = this.#takeHead();
    switch (this.#framing) {
      case 'length':
        this.#giveOfLength(head, chunk, isLent);
        break;
      case 'connection':
        this.#give(head, chunk, '', isLent);
        break;
      case 'chunks':
        this.#give(`${head}${chunk.length.toString(16)}\r\n`, chunk, '\r\n', isLent);
        break;
      default:
        if (head !== '') this.#giveLast(head, NOTHING, '', false);
    }
    return this.queuedBytes < this.#socket.writableHighWaterMark;
  }

  #giveOfLength(head: string, chunk: Buffer, isLent: boolean): void {
    this.#bytesLeft -= chunk.length;
    // The client would parse bytes beyond the announced length as the next answer.
    if (this.#bytesLeft < 0) this.cut(500);
    else if (this.#bytesLeft === 0) this.#giveLast(head, chunk, '', isLent);
    else this.#give(head, chunk, '', isLent);
  }

  get queuedBytes(): number {
    return this.#socket.writableLength;
  }

  drained(): Promise<void> {
    if (this.#isGone || !this.#socket.writableNeedDrain || this.queuedBytes === 0) return DONE;
    this.#room ??= Promise.withResolvers();
    this.#limitWait();
    return this.#room.promise;
  }

  /** The socket has room again. */
  noteDrained(): void {
    if (this.#room === undefined) return;
    this.#socket.setTimeout(0);
    this.#settleRoom();
  }

  end(): Promise<void> | undefined {
    if (this.#isGone || this.#isFinished) return undefined;
    if (!this.#isAllGiven && !this.#socket.destroyed) this.#giveEnd();
    if (this.#isFinished) return undefined;
    if (!this.#socket.destroyed) {
      this.#limitWait();
      // An empty write completes after all writes before it. Over TLS the last write itself has the callback.
      if (!this.#wire.isTls) this.#socket.write(NOTHING, this.#onTaken());
    }
    return this.ended;
  }

  #giveEnd(): void {
    const head = this.#takeHead();
    if (this.#bytesLeft > 0) this.cut(500);
    else this.#giveLast(head, NOTHING, this.#framing === 'chunks' ? LAST_CHUNK : '', false);
  }

  #giveLast(before: string, chunk: Buffer, behind: string, isLent: boolean): void {
    this.#isAllGiven = true;
    this.#give(before, chunk, behind, isLent, this.#wire.isTls ? this.#onTaken() : undefined);
    const { destroyed, errored } = this.#socket;
    if (this.queuedBytes === 0 && !destroyed && errored === null) this.#finish();
  }

  /**
   * Writes `before`, `chunk` and `behind` to the socket. `isLent`: the caller reuses the chunk's memory; never set over
   * TLS.
   */
  #give(
    before: string,
    chunk: Buffer,
    behind: string,
    isLent: boolean,
    onTaken?: (error?: Error | null) => void,
  ): void {
    const socket = this.#socket;
    const { direct, lentWriter } = this.#wire;
    const bytes = before.length + chunk.length + behind.length;
    this.#givenBytes += bytes;
    this.#wire.givenBytes += bytes;
    const isJoined = bytes > chunk.length && bytes <= JOINED_BYTES;
    if (direct !== undefined && (isLent || isJoined)) {
      lentWriter.write(socket, direct, before, chunk, behind);
    } else if (bytes === chunk.length) {
      // All tags of an HTTP-FLV stream are written here.
      if (onTaken !== undefined || direct?.tryAll(chunk, NO_MORE) !== true) socket.write(chunk, onTaken);
    } else if (isJoined) {
      socket.write(joinPieces(before, chunk, behind), onTaken);
    } else {
      const first = Buffer.from(before, 'latin1');
      const rest = behind === '' ? [chunk] : [chunk, Buffer.from(behind, 'latin1')];
      if (direct?.tryAll(first, rest) !== true) writeTogether(socket, first, rest, onTaken);
    }
  }

  /** The callback of the last write. */
  #onTaken(): (error?: Error | null) => void {
    return (error) => {
      if (error || this.#isGone || this.#isFinished) return; // `noteClosed` handles this
      this.#socket.setTimeout(0);
      this.#finish();
    };
  }

  #finish(): void {
    this.#isFinished = true;
    this.#settleRoom();
    this.#ended?.resolve();
  }

  /** The connection is closed. */
  noteClosed(): void {
    if (this.#isFinished || this.#isGone) return;
    this.#isGone = true;
    this.#gone?.abort();
    this.#settleRoom();
    this.#ended?.resolve();
  }

  #settleRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  /** The socket's own timer also notices progress inside a large write. */
  #limitWait(): void {
    this.#socket.setTimeout(this.#options.idleTimeoutMs);
  }

  readonly refusal = undefined;

  cut(status: CutStatus): void {
    if (!this.#isGone && !this.#isFinished) this.#cutStatus ??= status;
    this.#wire.destroy();
  }

  get cutStatus(): CutStatus | undefined {
    return this.#cutStatus;
  }
}

const DONE = Promise.resolve();
const NOTHING = Buffer.alloc(0);
const NO_MORE: readonly Buffer[] = [];
const LAST_CHUNK = '0\r\n\r\n';

function joinPieces(before: string, chunk: Buffer, behind: string): Buffer {
  const joined = Buffer.allocUnsafe(before.length + chunk.length + behind.length);
  joined.write(before, 0, 'latin1');
  joined.set(chunk, before.length);
  joined.write(behind, before.length + chunk.length, 'latin1');
  return joined;
}

/** Gives all pieces to the system in one write. */
function writeTogether(
  socket: Socket,
  first: Buffer,
  rest: readonly Buffer[],
  onTaken: ((error?: Error | null) => void) | undefined,
): void {
  socket.cork();
  socket.write(first);
  for (const [index, piece] of rest.entries()) socket.write(piece, index === rest.length - 1 ? onTaken : undefined);
  socket.uncork();
}

/** Largest size at which one joined buffer costs less than several writes. */
const JOINED_BYTES = 16 * 1024;
