/**
 * One stream: the unsent part of its answer, and both flow-control windows. The content belongs to its owner, the order
 * of frames to its connection. RFC 9113 §5.1, §5.2
 */
import {
  FrameFlag,
  FrameType,
  formatFrame,
  formatReset,
  formatSection,
  formatWindowUpdate,
  Http2ErrorCode,
} from './frames.ts';
import { FIRST_SETTINGS } from './settings.ts';

/** The side that answers a stream and is notified of its fate. */
export interface StreamOwner {
  /** Called with a piece of the request's body. The bytes are only lent. */
  onData(bytes: Buffer): void;
  /** Called when the request is complete. */
  onRequestEnd(): void;
  /** Called once after `wantRoom`, when little is queued. */
  onRoom(): void;
  /** Called when the system has taken the whole answer. The last call for this stream. */
  onOut(): void;
  /** Called when the stream ended before that. The last call for this stream. */
  onLost(): void;
}

/** What a stream needs of its connection. */
export interface StreamWire {
  /** Sends complete frames. */
  send(frames: Buffer): void;
  /** Returns the next field section with the bytes that must precede it. */
  section(section: Buffer): Buffer;
  /** The stream has data to send, if the client's windows allow it. */
  onReady(stream: Http2Stream): void;
  /** The stream's last frame is queued. */
  onEndSent(stream: Http2Stream): void;
  /** The stream is closed: by its end, by a reset, or with the connection. */
  onClosed(stream: Http2Stream): void;
}

/** Queued bytes from which the owner should wait for the client. */
const ROOM_BYTES = 64 * 1024;

export class Http2Stream {
  readonly id: number;
  owner: StreamOwner | undefined;
  /** Body bytes that the client accepts; negative after it lowered its initial window. */
  sendWindow: number;
  /** Body bytes that the client may send. */
  receiveWindow: number = FIRST_SETTINGS.initialWindow;
  /** Bytes of the announced length that have not arrived; `undefined` if no length was announced. */
  lengthLeft: number | undefined;
  /** The client has not ended its request. */
  isRequestOpen: boolean;
  readonly #wire: StreamWire;
  /** Queued bytes of the answer's body, in order. */
  readonly #queue: Buffer[] = [];
  /** Bytes of the first buffer that are already taken. */
  #firstOut = 0;
  #queuedBytes = 0;
  #isHeadSent = false;
  /** Nothing follows the queued bytes. */
  #isEndGiven = false;
  #isEndSent = false;
  #isClosed = false;
  #isRoomWanted = false;
  /** Sweeps since data was last taken. */
  #stuckSweeps = 0;

  constructor(
    wire: StreamWire,
    { id, sendWindow, isRequestOpen }: Pick<Http2Stream, 'id' | 'sendWindow' | 'isRequestOpen'>,
  ) {
    this.id = id;
    this.sendWindow = sendWindow;
    this.isRequestOpen = isRequestOpen;
    this.#wire = wire;
  }

  get isHeadSent(): boolean {
    return this.#isHeadSent;
  }

  /** Whether nothing more can be sent. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  get hasRoom(): boolean {
    return this.#queuedBytes < ROOM_BYTES;
  }

  /** Sends an interim (1xx) response. */
  sendInterim(section: Buffer): void {
    if (!this.#isClosed) this.#wire.send(formatSection(this.id, this.#wire.section(section), false));
  }

  sendHead(section: Buffer, endsStream: boolean): void {
    if (this.#isClosed) return;
    this.#isHeadSent = true;
    this.#wire.send(formatSection(this.id, this.#wire.section(section), endsStream));
    if (endsStream) this.noteEndSent();
  }

  /** Queues body bytes, which must not change until they are sent. */
  write(bytes: Buffer): void {
    if (this.#isClosed || bytes.length === 0) return;
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    if (this.#queue.length === 1) this.#wire.onReady(this);
  }

  end(): void {
    if (this.#isClosed || this.#isEndGiven) return;
    this.#isEndGiven = true;
    if (this.#queuedBytes > 0) return;
    this.#wire.send(formatFrame({ type: FrameType.data, flags: FrameFlag.endStream, streamId: this.id }));
    this.noteEndSent();
  }

  /** Requests one call of `onRoom`. */
  wantRoom(): void {
    this.#isRoomWanted = true;
  }

  /**
   * Takes the data of the next frame; `undefined` if nothing waits. After the last, `noteEndSent` must be called.
   * `maxBytes`: at least 1.
   */
  takeData(maxBytes: number): { readonly bytes: Buffer; readonly isLast: boolean } | undefined {
    const first = this.#queue[0];
    if (first === undefined) return undefined;
    const bytes = first.subarray(this.#firstOut, this.#firstOut + maxBytes);
    this.#firstOut += bytes.length;
    if (this.#firstOut === first.length) {
      this.#queue.shift();
      this.#firstOut = 0;
    }
    this.#queuedBytes -= bytes.length;
    this.sendWindow -= bytes.length;
    this.#stuckSweeps = 0;
    const isLast = this.#isEndGiven && this.#queuedBytes === 0;
    if (this.#isRoomWanted && this.hasRoom) {
      this.#isRoomWanted = false;
      this.owner?.onRoom();
    }
    return { bytes, isLast };
  }

  /** The frame that ends the stream is queued. */
  noteEndSent(): void {
    this.#isEndSent = true;
    this.#wire.onEndSent(this);
  }

  /** Widens the receive window by the bytes of the request's body that were read. */
  giveRoom(bytes: number): void {
    if (this.#isClosed || !this.isRequestOpen) return;
    this.receiveWindow += bytes;
    this.#wire.send(formatWindowUpdate(this.id, bytes));
  }

  /** Resets the stream. */
  reset(code: Http2ErrorCode): void {
    if (this.#isClosed) return;
    this.#wire.send(formatReset(this.id, code));
    this.close();
  }

  /** Closes the stream: both sides have ended, the client has reset it, or the connection is gone. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#queue.length = 0;
    this.#wire.onClosed(this);
    if (!this.#isEndSent) this.#lose();
  }

  /** Called when the system has taken the last frame, or when it was lost. */
  noteWritten(isOut: boolean): void {
    if (isOut) this.owner?.onOut();
    else this.#lose();
    this.owner = undefined;
  }

  #lose(): void {
    const { owner } = this;
    this.owner = undefined;
    owner?.onLost();
  }

  /**
   * Resets the stream if the client has taken nothing for `limitMs`. `isMoving`: other streams make progress, so this
   * one may be waiting for its turn.
   */
  sweep(sweepMs: number, limitMs: number, isMoving: boolean): void {
    if (this.#queuedBytes === 0 || (isMoving && this.sendWindow > 0)) this.#stuckSweeps = 0;
    else if (this.#stuckSweeps++ * sweepMs >= limitMs) this.reset(Http2ErrorCode.cancel);
  }
}
