/**
 * The receiving side of one connection: frames become requests, bodies and stream ends. A protocol violation ends the
 * connection. RFC 9113 §3.4, §5, §6. No socket.
 */
import { type Budget, type BudgetLimits, createBudget } from './budget.ts';
import { FrameReader, unpad } from './frame-reader.ts';
import {
  FrameFlag,
  FrameType,
  formatFrame,
  formatGoaway,
  formatReset,
  formatWindowUpdate,
  Http2ErrorCode,
  PREFACE,
  PRIORITY_BYTES,
  readUint31,
} from './frames.ts';
import { type FieldMaker, HpackDecoder, type SectionReading } from './hpack/decoder.ts';
import { IdleFrames } from './idle-frames.ts';
import { areTrailers } from './request.ts';
import type { RequestField } from './request-field.ts';
import { Sections, type WholeSection } from './sections.ts';
import type { Sender } from './sender.ts';
import { applySettings, type ClientSettings, FIRST_SETTINGS, formatSettings } from './settings.ts';
import { Http2Stream, type StreamWire } from './stream.ts';

export interface Http2ConversationOptions {
  readonly sender: Sender;
  readonly fieldMaker: FieldMaker<RequestField>;
  /** Limit of concurrent streams. */
  readonly maxStreams: number;
  /** Limit of the field list of one request, in bytes. RFC 9113 §6.5.2 */
  readonly maxListBytes: number;
  /** Budget for actions that cost us more than the client, such as resets. */
  readonly oddities: BudgetLimits;
  /** Budget for frames without effect, beyond those that requests and sent data account for. */
  readonly idleFrames: BudgetLimits;
  readonly clock: () => number;
  readonly listener: ConversationListener;
}

export interface ConversationListener {
  /** Called for each request: answer it directly or on a stream from `open`, or refuse it. */
  onRequest(asked: StreamRequest): void;
  onStreamClosed(): void;
  /** The client has sent GOAWAY. */
  onLeaving(): void;
  /** The client has violated the protocol. GOAWAY is queued, and nothing more is read. */
  onBroken(): void;
}

/** A request as received. */
export interface StreamRequest {
  readonly id: number;
  readonly fields: readonly RequestField[];
  readonly reading: Exclude<SectionReading, 'malformed'>;
  /** The request has no body and no trailers. */
  readonly isWhole: boolean;
}

/** Most discarded streams that are remembered; the oldest is forgotten first. */
const MAX_DISCARDED = 1_000;
/** Requests read before other connections get their turn. */
const REQUESTS_IN_TURN = 64;

export class Conversation implements StreamWire {
  readonly #options: Http2ConversationOptions;
  readonly #sender: Sender;
  readonly #reader = new FrameReader();
  readonly #decoder: HpackDecoder<RequestField>;
  readonly #sections = new Sections();
  readonly #oddities: Budget;
  readonly #idleFrames: IdleFrames;
  readonly #streams = new Map<number, Http2Stream>();
  /** Streams that we ended before the client did: frames that still arrive for them are dropped. */
  readonly #discarded = new Set<number>();
  #prefaceBytes = 0;
  #hasSettings = false;
  #settings: ClientSettings = FIRST_SETTINGS;
  /** Id of the stream that the client opened last. */
  #lastId = 0;
  #isLeaving = false;
  #isOver = false;
  #receiveWindow = FIRST_SETTINGS.initialWindow;
  #requestsInTurn = 0;

  constructor(options: Http2ConversationOptions) {
    this.#options = options;
    this.#sender = options.sender;
    this.#decoder = new HpackDecoder(options.fieldMaker);
    this.#oddities = createBudget(options.oddities);
    this.#idleFrames = new IdleFrames(options.idleFrames);
    this.#sender.send(formatFrame({ type: FrameType.settings, flags: 0, streamId: 0 }, formatSettings(options)));
  }

  get streams(): ReadonlyMap<number, Http2Stream> {
    return this.#streams;
  }

  /** Takes received bytes. Returns false if `goOn` must read the rest later; until then no bytes may be passed. */
  receive(bytes: Buffer): boolean {
    const preface = Math.min(PREFACE.length - this.#prefaceBytes, bytes.length);
    if (preface > 0) {
      if (PREFACE.compare(bytes, 0, preface, this.#prefaceBytes, this.#prefaceBytes + preface) !== 0)
        this.#fail(Http2ErrorCode.protocol);
      this.#prefaceBytes += preface;
    }
    this.#reader.push(preface > 0 ? bytes.subarray(preface) : bytes);
    return this.goOn();
  }

  goOn(): boolean {
    this.#requestsInTurn = 0;
    while (!this.#isOver) {
      const next = this.#reader.next();
      if (next === 'more') return true;
      const problem = next === 'tooLarge' ? Http2ErrorCode.frameSize : this.#take() || this.#noteIdle();
      if (problem !== Http2ErrorCode.none) this.#fail(problem);
      if (this.#requestsInTurn >= REQUESTS_IN_TURN) return false;
    }
    return true;
  }

  #fail(code: Http2ErrorCode): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sender.send(formatGoaway(this.#lastId, code));
    this.#options.listener.onBroken();
  }

  /** Handles the frame that was read last. Returns the error that ends the connection, or `none`. */
  #take(): Http2ErrorCode {
    const { type, flags } = this.#reader;
    if (this.#sections.isBegun && type !== FrameType.continuation) return Http2ErrorCode.protocol; // §6.10
    if (!this.#hasSettings && (type !== FrameType.settings || (flags & FrameFlag.ack) !== 0))
      return Http2ErrorCode.protocol;
    switch (type) {
      case FrameType.data:
        return this.#onData();
      case FrameType.headers:
      case FrameType.continuation:
        return this.#onFields();
      case FrameType.priority:
        return this.#onPriority();
      case FrameType.reset:
        return this.#onReset();
      case FrameType.settings:
        return this.#onSettings();
      case FrameType.push:
        return Http2ErrorCode.protocol; // §8.4
      case FrameType.ping:
        return this.#onPing();
      case FrameType.goaway:
        return this.#onGoaway();
      case FrameType.window:
        return this.#onWindow();
      default:
        return Http2ErrorCode.none; // §4.1
    }
  }

  #onFields(): Http2ErrorCode {
    const section = this.#sections.take(this.#reader);
    if (section === 'more') return Http2ErrorCode.none;
    return typeof section === 'number' ? section : this.#onSection(section);
  }

  #onSection({ streamId: id, endsStream, bytes, start, end }: WholeSection): Http2ErrorCode {
    const { maxListBytes, maxStreams, listener } = this.#options;
    const fields: RequestField[] = [];
    // Sections of refused and closed streams are decoded too: they change the table.
    const reading = this.#decoder.decode(bytes, start, end, fields, maxListBytes);
    if (reading === 'malformed') return Http2ErrorCode.compression;
    const stream = this.#streams.get(id);
    if (stream !== undefined) return this.#onTrailers(stream, endsStream && areTrailers(fields));
    if (id % 2 === 0) return Http2ErrorCode.protocol; // §5.1.1
    if (id <= this.#lastId) return this.#onClosedStream(id, endsStream);
    if (this.#isLeaving) return Http2ErrorCode.none; // §6.8
    this.#lastId = id;
    this.#idleFrames.noteRequest();
    this.#requestsInTurn += 1;
    if (this.#streams.size >= maxStreams) this.refuse({ id, isWhole: endsStream }, Http2ErrorCode.refusedStream);
    else listener.onRequest({ id, fields, reading, isWhole: endsStream });
    return Http2ErrorCode.none;
  }

  /** Opens a stream for a request. `lengthBytes`: the announced body length. */
  open({ id, isWhole }: Pick<StreamRequest, 'id' | 'isWhole'>, lengthBytes?: number): Http2Stream {
    const stream = new Http2Stream(this, { id, sendWindow: this.#sender.initialWindow, isRequestOpen: !isWhole });
    stream.lengthLeft = lengthBytes;
    this.#streams.set(id, stream);
    return stream;
  }

  refuse({ id, isWhole }: Pick<StreamRequest, 'id' | 'isWhole'>, code: Http2ErrorCode): void {
    this.#sender.send(formatReset(id, code));
    if (!isWhole) this.#discard(id);
    const problem = this.#noteOdd();
    if (problem !== Http2ErrorCode.none) this.#fail(problem);
  }

  /** Charges the last frame taken to the budget for idle frames. */
  #noteIdle(): Http2ErrorCode {
    const { type, start, end, streamId } = this.#reader;
    const isOfStream = this.#streams.has(streamId);
    const frame = { type, payloadBytes: end - start, isOfStream, isIgnored: this.#isLeaving && !isOfStream };
    const isFew = this.#idleFrames.take(frame, this.#options.clock(), this.#sender.dataBytes);
    return isFew ? Http2ErrorCode.none : Http2ErrorCode.enhanceYourCalm;
  }

  #noteOdd(): Http2ErrorCode {
    return this.#oddities.take(this.#options.clock()) ? Http2ErrorCode.none : Http2ErrorCode.enhanceYourCalm;
  }

  /** Handles a frame for a closed stream: ignored if we ended it, an error if the client did. §5.1 */
  #onClosedStream(id: number, endsStream: boolean): Http2ErrorCode {
    if (!this.#discarded.has(id)) return Http2ErrorCode.streamClosed;
    if (endsStream) this.#discarded.delete(id);
    return Http2ErrorCode.none;
  }

  #discard(id: number): void {
    this.#discarded.add(id);
    const [oldest] = this.#discarded;
    if (this.#discarded.size > MAX_DISCARDED && oldest !== undefined) this.#discarded.delete(oldest);
  }

  #onTrailers(stream: Http2Stream, isGood: boolean): Http2ErrorCode {
    if (!stream.isRequestOpen) return Http2ErrorCode.streamClosed;
    return isGood ? this.#onRequestEnd(stream) : this.#resetOdd(stream, Http2ErrorCode.protocol);
  }

  #onRequestEnd(stream: Http2Stream): Http2ErrorCode {
    if ((stream.lengthLeft ?? 0) > 0) return this.#resetOdd(stream, Http2ErrorCode.protocol); // §8.1.1
    stream.isRequestOpen = false;
    stream.owner?.onRequestEnd();
    return Http2ErrorCode.none;
  }

  #resetOdd(stream: Http2Stream, code: Http2ErrorCode): Http2ErrorCode {
    stream.reset(code);
    return this.#noteOdd();
  }

  #onData(): Http2ErrorCode {
    const { bytes, streamId, flags } = this.#reader;
    const part = unpad(this.#reader);
    if (streamId === 0 || part === undefined) return Http2ErrorCode.protocol;
    const payloadBytes = this.#reader.end - this.#reader.start;
    if (!this.#takeReceived(payloadBytes)) return Http2ErrorCode.flowControl;
    const endsStream = (flags & FrameFlag.endStream) !== 0;
    const stream = this.#streams.get(streamId);
    if (stream === undefined) {
      if (this.#isIdle(streamId)) return Http2ErrorCode.protocol;
      return streamId > this.#lastId ? Http2ErrorCode.none : this.#onClosedStream(streamId, endsStream);
    }
    if (!stream.isRequestOpen) return Http2ErrorCode.streamClosed;
    const dataBytes = part.end - part.start;
    stream.receiveWindow -= payloadBytes;
    if (stream.receiveWindow < 0) return this.#resetOdd(stream, Http2ErrorCode.flowControl);
    if (stream.lengthLeft !== undefined) {
      stream.lengthLeft -= dataBytes;
      if (stream.lengthLeft < 0) return this.#resetOdd(stream, Http2ErrorCode.protocol); // §8.1.1
    }
    if (payloadBytes > dataBytes && !endsStream) stream.giveRoom(payloadBytes - dataBytes);
    if (dataBytes > 0) stream.owner?.onData(bytes.subarray(part.start, part.end));
    if (endsStream) return stream.isClosed ? Http2ErrorCode.none : this.#onRequestEnd(stream);
    return dataBytes === 0 ? this.#noteOdd() : Http2ErrorCode.none;
  }

  /** Counts DATA against the connection's window, and reopens it at once. Returns false if the window was exceeded. */
  #takeReceived(bytes: number): boolean {
    this.#receiveWindow -= bytes;
    if (this.#receiveWindow < 0) return false;
    const owed = FIRST_SETTINGS.initialWindow - this.#receiveWindow;
    if (owed >= FIRST_SETTINGS.initialWindow / 2) {
      this.#receiveWindow += owed;
      this.#sender.send(formatWindowUpdate(0, owed));
    }
    return true;
  }

  /** Whether the stream has never been opened, and was not refused because the connection ends. §5.1 */
  #isIdle(id: number): boolean {
    return id % 2 === 0 || (id > this.#lastId && !this.#isLeaving);
  }

  /** Ignores the frame: priorities are advisory. §5.3.2 */
  #onPriority(): Http2ErrorCode {
    const { start, end, streamId } = this.#reader;
    if (streamId === 0) return Http2ErrorCode.protocol;
    return end - start === PRIORITY_BYTES ? Http2ErrorCode.none : Http2ErrorCode.frameSize;
  }

  #onReset(): Http2ErrorCode {
    const { start, end, streamId } = this.#reader;
    if (end - start !== 4) return Http2ErrorCode.frameSize;
    if (streamId === 0 || this.#isIdle(streamId)) return Http2ErrorCode.protocol;
    const stream = this.#streams.get(streamId);
    if (stream !== undefined) stream.isRequestOpen = false;
    stream?.close();
    this.#discarded.delete(streamId);
    return this.#noteOdd();
  }

  #onSettings(): Http2ErrorCode {
    const { bytes, start, end, flags, streamId } = this.#reader;
    if (streamId !== 0) return Http2ErrorCode.protocol;
    this.#hasSettings = true;
    if ((flags & FrameFlag.ack) !== 0) return start === end ? Http2ErrorCode.none : Http2ErrorCode.frameSize;
    const settings = applySettings(this.#settings, bytes.subarray(start, end));
    if (typeof settings === 'number') return settings;
    this.#settings = settings;
    if (!this.#sender.use(settings, this.#streams.values())) return Http2ErrorCode.flowControl;
    this.#sender.send(SETTINGS_ACK);
    return Http2ErrorCode.none;
  }

  #onPing(): Http2ErrorCode {
    const { bytes, start, end, flags, streamId } = this.#reader;
    if (streamId !== 0) return Http2ErrorCode.protocol;
    if (end - start !== 8) return Http2ErrorCode.frameSize;
    if ((flags & FrameFlag.ack) === 0)
      this.#sender.send(
        formatFrame({ type: FrameType.ping, flags: FrameFlag.ack, streamId: 0 }, bytes.subarray(start, end)),
      );
    return Http2ErrorCode.none;
  }

  #onGoaway(): Http2ErrorCode {
    const { start, end, streamId } = this.#reader;
    if (streamId !== 0) return Http2ErrorCode.protocol;
    if (end - start < 8) return Http2ErrorCode.frameSize;
    this.#options.listener.onLeaving();
    return Http2ErrorCode.none;
  }

  #onWindow(): Http2ErrorCode {
    const { bytes, start, end, streamId } = this.#reader;
    if (end - start !== 4) return Http2ErrorCode.frameSize;
    const more = readUint31(bytes, start);
    if (streamId === 0) {
      if (more === 0) return Http2ErrorCode.protocol;
      return this.#sender.widen(more) ? Http2ErrorCode.none : Http2ErrorCode.flowControl;
    }
    if (this.#isIdle(streamId)) return Http2ErrorCode.protocol;
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return Http2ErrorCode.none;
    if (more === 0) return this.#resetOdd(stream, Http2ErrorCode.protocol);
    return this.#sender.widenStream(stream, more)
      ? Http2ErrorCode.none
      : this.#resetOdd(stream, Http2ErrorCode.flowControl);
  }

  /** Sends GOAWAY: streams that the client opens from here on are ignored. §6.8 */
  leave(): void {
    if (this.#isLeaving || this.#isOver) return;
    this.#isLeaving = true;
    this.#sender.send(formatGoaway(this.#lastId, Http2ErrorCode.none));
  }

  /** Closes all streams. Nothing more is sent or read. */
  end(): void {
    this.#isOver = true;
    for (const stream of [...this.#streams.values()]) stream.close();
  }

  // Methods of `StreamWire`.

  send(frames: Buffer): void {
    this.#sender.send(frames);
  }

  section(section: Buffer): Buffer {
    return this.#sender.section(section);
  }

  onReady(stream: Http2Stream): void {
    this.#sender.onReady(stream);
  }

  onEndSent(stream: Http2Stream): void {
    this.#sender.tell(stream);
    // The rest of an answered request is not needed. §8.1
    if (stream.isRequestOpen) this.#sender.send(formatReset(stream.id, Http2ErrorCode.none));
    stream.close();
  }

  onClosed(stream: Http2Stream): void {
    this.#streams.delete(stream.id);
    this.#sender.onClosed(stream);
    if (stream.isRequestOpen) this.#discard(stream.id);
    this.#options.listener.onStreamClosed();
  }
}

const SETTINGS_ACK = formatFrame({ type: FrameType.settings, flags: FrameFlag.ack, streamId: 0 });
