/**
 * The sending side of one connection: whose data is next, and how much the client's windows allow. RFC 9113 §5.2, §6.9.
 * No socket.
 */
import type { WrittenHttp2 } from '../../shortcuts/ready-answer.ts';
import { MAX_PAYLOAD_BYTES } from './frames.ts';
import { NO_TABLE } from './hpack/encoder.ts';
import { Output } from './output.ts';
import { type ClientSettings, FIRST_SETTINGS, WINDOW_LIMIT } from './settings.ts';
import type { Http2Stream } from './stream.ts';

/** An answer within a write, notified when the system has taken the write or it was lost. */
export interface Outgoing {
  noteWritten(isOut: boolean): void;
}

export class Sender {
  /** Body bytes that the client accepts on all streams together. */
  #window = FIRST_SETTINGS.initialWindow;
  #settings = FIRST_SETTINGS;
  #mustSayNoTable = false;
  #dataBytes = 0;
  readonly #output = new Output();
  /** Streams whose data may be sent, in turn. */
  readonly #ready = new Set<Http2Stream>();
  #outgoing: Outgoing[] = [];
  readonly #onSomething: () => void;

  /** `onSomething` is called when there is something to write. */
  constructor(onSomething: () => void) {
    this.#onSomething = onSomething;
  }

  get initialWindow(): number {
    return this.#settings.initialWindow;
  }

  /** Bytes that wait to be taken. */
  get bytes(): number {
    return this.#output.sizeBytes;
  }

  /** Body bytes sent until now. */
  get dataBytes(): number {
    return this.#dataBytes;
  }

  send(frames: Buffer): void {
    this.#output.add(frames);
    this.#onSomething();
  }

  /** Returns the section, preceded by a pending table size update. */
  section(section: Buffer): Buffer {
    if (!this.#mustSayNoTable) return section;
    this.#mustSayNoTable = false;
    return Buffer.concat([NO_TABLE, section]);
  }

  /**
   * Sends a whole answer without a stream. `body`: the part that is not among the frames. Returns false if other
   * streams wait, or if the windows do not admit all of it.
   */
  sendWhole(streamId: number, { frames, dataAt }: WrittenHttp2, bodyBytes: number, body: readonly Buffer[]): boolean {
    if (bodyBytes > this.#window || bodyBytes > this.#settings.initialWindow) return false;
    if (this.#ready.size > 0 || this.#mustSayNoTable) return false;
    this.#output.addFor(streamId, frames, dataAt);
    this.#window -= bodyBytes;
    this.#dataBytes += bodyBytes;
    for (const piece of body) this.#addInFrames(streamId, piece, piece === body.at(-1));
    return true;
  }

  #addInFrames(streamId: number, piece: Buffer, isLast: boolean): void {
    for (let at = 0; at < piece.length; at += MAX_PAYLOAD_BYTES) {
      const ends = isLast && at + MAX_PAYLOAD_BYTES >= piece.length;
      this.#output.addData(streamId, piece.subarray(at, at + MAX_PAYLOAD_BYTES), ends);
    }
  }

  /** Adds an answer that is notified of the next write. */
  tell(one: Outgoing): void {
    this.#outgoing.push(one);
  }

  onReady(stream: Http2Stream): void {
    this.#ready.add(stream);
    this.#onSomething();
  }

  onClosed(stream: Http2Stream): void {
    this.#ready.delete(stream);
  }

  /** Widens the connection's window. Returns false if it exceeds the maximum. */
  widen(bytes: number): boolean {
    this.#window += bytes;
    if (this.#ready.size > 0) this.#onSomething();
    return this.#window < WINDOW_LIMIT;
  }

  /** Widens the window of one stream. Returns false if it exceeds the maximum. */
  widenStream(stream: Http2Stream, bytes: number): boolean {
    stream.sendWindow += bytes;
    if (stream.queuedBytes > 0 && stream.sendWindow > 0) this.onReady(stream);
    return stream.sendWindow < WINDOW_LIMIT;
  }

  /** Applies the client's settings. Returns false if a window exceeds the maximum. */
  use(settings: ClientSettings, streams: Iterable<Http2Stream>): boolean {
    const change = settings.initialWindow - this.#settings.initialWindow;
    if (settings.wantsNoTable && !this.#settings.wantsNoTable) this.#mustSayNoTable = true;
    this.#settings = settings;
    let isGood = true;
    if (change !== 0) for (const stream of streams) isGood = this.widenStream(stream, change) && isGood;
    return isGood;
  }

  /** Adds data of waiting streams, one frame of each in turn, up to about `maxBytes` of output. */
  gather(maxBytes: number): void {
    // A stream that is added again moves to the end and gets its next turn within this loop.
    for (const stream of this.#ready) {
      if (this.#output.sizeBytes >= maxBytes || this.#window <= 0) return;
      this.#ready.delete(stream);
      const room = Math.min(this.#window, stream.sendWindow, MAX_PAYLOAD_BYTES);
      const taken = room > 0 ? stream.takeData(room) : undefined;
      if (taken === undefined) continue; // until its own window widens
      this.#window -= taken.bytes.length;
      this.#dataBytes += taken.bytes.length;
      this.#output.addData(stream.id, taken.bytes, taken.isLast);
      if (taken.isLast) stream.noteEndSent();
      else if (stream.queuedBytes > 0) this.#ready.add(stream);
    }
  }

  /** Moves everything that is to be written into `bytes`. Returns the answers to notify. */
  takeInto(bytes: Buffer): readonly Outgoing[] {
    this.#output.takeInto(bytes);
    return this.forget();
  }

  /** Returns the answers that will never be out, as nothing more is written. */
  forget(): readonly Outgoing[] {
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    return outgoing;
  }
}
