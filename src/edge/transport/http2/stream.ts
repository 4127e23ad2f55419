/**
 * One stream: what of its answer has not gone out, and how much each side may send. What it carries is its owner's,
 * which frames are next its connection's. RFC 9113 §5.1, §5.2
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
  /** A piece of the request's body. The bytes are only lent. */
  onData(bytes: Buffer): void;
  /** The request is whole. */
  onRequestEnd(): void;
  /** Little waits to go out. */
  onRoom(): void;
  /** The system has all of the answer. The last call for this stream. */
  onOut(): void;
  /** The stream ended before that. The last call for this stream. */
  onLost(): void;
}

/** What a stream asks of its connection. */
export interface StreamWire {
  /** Whole frames. */
  send(frames: Buffer): void;
  /** Returns the next field section with the bytes that must precede it. */
  section(section: Buffer): Buffer;
  /** The stream has something to send that the client's windows may let out. */
  onReady(stream: Http2Stream): void;
  /** The stream's last frame is on the way. */
  onEndSent(stream: Http2Stream): void;
  /** The stream is closed: by its end, by a reset, or with the connection. */
  onClosed(stream: Http2Stream): void;
}

/** A client that is slower is to be waited for. */
const ROOM_BYTES = 64 * 1024;

export class Http2Stream {
  readonly id: number;
  owner: StreamOwner | undefined;
  /** Bytes of a body that the client takes; below 0 when it has changed its mind. */
  sendWindow: number;
  /** Bytes of a body that the client may send. */
  receiveWindow: number = FIRST_SETTINGS.initialWindow;
  /** Bytes of the announced length that have not arrived; `undefined`: no length was announced. */
  lengthLeft: number | undefined;
  /** The client has not ended its request. */
  isRequestOpen: boolean;
  readonly #wire: StreamWire;
  /** Queued bytes of the answer's body, in order. */
  readonly #queue: Buffer[] = [];
  /** Bytes of the first of them that are out. */
  #firstOut = 0;
  #queuedBytes = 0;
  #isHeadSent = false;
  /** Nothing comes behind what waits. */
  #isEndGiven = false;
  #isEndSent = false;
  #isClosed = false;
  #isRoomWanted = false;
  /** Sweeps since something of it went out. */
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

  /** Nothing can be sent on it any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  get hasRoom(): boolean {
    return this.#queuedBytes < ROOM_BYTES;
  }

  /** An answer before the answer. */
  sendInterim(section: Buffer): void {
    if (!this.#isClosed) this.#wire.send(formatSection(this.id, this.#wire.section(section), false));
  }

  sendHead(section: Buffer, endsStream: boolean): void {
    if (this.#isClosed) return;
    this.#isHeadSent = true;
    this.#wire.send(formatSection(this.id, this.#wire.section(section), endsStream));
    if (endsStream) this.noteEndSent();
  }

  /** The bytes must stay what they are. */
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

  /** Asks for one call of `onRoom`. */
  wantRoom(): void {
    this.#isRoomWanted = true;
  }

  /**
   * The next frame's worth, which counts as gone; with the last, `noteEndSent` is to be called. `maxBytes`: at least 1.
   * `undefined`: nothing waits.
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

  /** The frame that ends it is on its way. */
  noteEndSent(): void {
    this.#isEndSent = true;
    this.#wire.onEndSent(this);
  }

  /** The request's body was taken on, so that more of it may come. */
  giveRoom(bytes: number): void {
    if (this.#isClosed || !this.isRequestOpen) return;
    this.receiveWindow += bytes;
    this.#wire.send(formatWindowUpdate(this.id, bytes));
  }

  /** Breaks it off. */
  reset(code: Http2ErrorCode): void {
    if (this.#isClosed) return;
    this.#wire.send(formatReset(this.id, code));
    this.close();
  }

  /** Nothing goes either way any more: both sides have ended, the client has reset it, or the connection is gone. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#queue.length = 0;
    this.#wire.onClosed(this);
    if (!this.#isEndSent) this.#lose();
  }

  /** Called when the last frame was taken by the system, or was lost. */
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
   * Breaks it off when the client has taken nothing for so long. `isMoving`: others are, and it may be waiting for its
   * turn.
   */
  sweep(sweepMs: number, limitMs: number, isMoving: boolean): void {
    if (this.#queuedBytes === 0 || (isMoving && this.sendWindow > 0)) this.#stuckSweeps = 0;
    else if (this.#stuckSweeps++ * sweepMs >= limitMs) this.reset(Http2ErrorCode.cancel);
  }
}
