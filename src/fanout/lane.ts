/** The viewers of a hub with the same encoding. Media is encoded once and written to each viewer that keeps up. */
import type { Timers } from '#lib/timers.ts';
import { PressureGauge, type PressureLimits } from './back-pressure.ts';
import { EncodedGop } from './encoded-gop.ts';
import type { Encoding, HubViewer } from './encoding.ts';
import type { GopCache, MessageRole } from './gop-cache.ts';
import type { MediaMessage } from './media/message.ts';
import { type Block, firstStart, MergedWrites, restOf } from './merged-writes.ts';

export interface LaneLimits extends PressureLimits {
  /** Number of viewers, or audience of one of them, above which writes are merged. */
  readonly mergeAbove: number;
  readonly mergeMs: number;
  readonly maxMergedBytes: number;
}

interface LaneOptions {
  readonly encoding: Encoding;
  readonly gop: GopCache;
  readonly limits: LaneLimits;
  readonly timers: Timers;
  /** Calls `run` after all messages of the current event have been pushed. */
  readonly soon: (run: () => void) => void;
}

/** A viewer and its position in the stream. */
export interface LaneSeat {
  readonly viewer: HubViewer;
  readonly gauge: PressureGauge;
  /** Number of the next message to be written. */
  next: number;
  /** Whether the viewer gets nothing until a message at which a decoder can begin. */
  isWaiting: boolean;
  /** Version of the headers that the viewer has; `undefined` before the file header. */
  headersVersion: number | undefined;
}

export class Lane {
  readonly #options: LaneOptions;
  readonly #places = new Set<LaneSeat>();
  readonly #pending = new MergedWrites();
  #cancelFlush: (() => void) | undefined;
  #isFlushSoon = false;
  readonly #encodedGop: EncodedGop;
  #headers: { readonly version: number; readonly timestampMs: number; readonly bytes: Buffer } | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#encodedGop = new EncodedGop(options.gop, options.encoding);
  }

  get size(): number {
    return this.#places.size;
  }

  attach(viewer: HubViewer): LaneSeat {
    const { gop, limits, timers } = this.#options;
    const now = timers.now();
    const gauge = new PressureGauge(limits, now);
    const place: LaneSeat = { viewer, gauge, next: this.#pending.next, isWaiting: true, headersVersion: undefined };
    this.#places.add(place);
    const first = gop.messages[0];
    if (first !== undefined) {
      this.#begin(place, first.timestampMs, now);
      for (const piece of this.#encodedGop.pieces()) write(place, piece, now);
    }
    return place;
  }

  detach(place: LaneSeat): void {
    this.#places.delete(place);
  }

  push(message: MediaMessage, role: MessageRole): void {
    const bytes = this.#options.encoding.encode(message);
    this.#encodedGop.follow(bytes);
    this.#pending.add(bytes, role === 'start' ? message.timestampMs : undefined);
    if (this.#pending.sizeBytes >= this.#options.limits.maxMergedBytes) this.flush();
    else this.#flushLater();
  }

  /** Schedules a write, so that messages that arrive together share it. For a crowd, it waits for more of them. */
  #flushLater(): void {
    if (this.#isFlushSoon || this.#cancelFlush !== undefined) return;
    const { limits, timers, soon } = this.#options;
    if (this.#isCrowded(limits.mergeAbove)) this.#cancelFlush = timers.after(limits.mergeMs, this.#flush);
    else {
      this.#isFlushSoon = true;
      soon(this.#flush);
    }
  }

  #isCrowded(mergeAbove: number): boolean {
    if (this.#places.size > mergeAbove) return true;
    for (const { viewer } of this.#places) if ((viewer.audience ?? 1) > mergeAbove) return true;
    return false;
  }

  readonly #flush = () => this.flush();

  flush(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    this.#isFlushSoon = false;
    const block = this.#pending.take();
    if (block === undefined) return;
    const now = this.#options.timers.now();
    for (const place of this.#places) this.#deliver(place, block, now);
  }

  end(): void {
    this.flush();
    for (const { viewer } of this.#take()) viewer.end();
  }

  cut(): void {
    this.#cancelFlush?.();
    for (const { viewer } of this.#take()) viewer.cut();
  }

  #take(): readonly LaneSeat[] {
    const places = [...this.#places];
    this.#places.clear();
    return places;
  }

  #deliver(place: LaneSeat, block: Block, now: number): void {
    const pressure = place.gauge.measure(place.viewer.queuedBytes, now);
    if (pressure === 'hasStalled') {
      this.#places.delete(place);
      place.viewer.cut();
      return;
    }
    if (pressure === 'isBehind') place.isWaiting = true;
    const start = place.isWaiting && pressure === 'keepsUp' ? firstStart(block, place.next) : undefined;
    if (start !== undefined) {
      this.#begin(place, start.timestampMs, now);
      place.next = start.number;
    }
    if (!place.isWaiting) {
      write(place, restOf(block, place.next), now);
      place.headersVersion = this.#options.gop.headersVersion;
    }
    place.next = this.#pending.next;
  }

  /** Writes the headers that must precede a message at which the viewer begins, or begins again. */
  #begin(place: LaneSeat, timestampMs: number, now: number): void {
    const { gop, encoding } = this.#options;
    if (place.headersVersion === undefined) write(place, encoding.begin(gop.tracks), now);
    if (place.headersVersion !== gop.headersVersion) write(place, this.#encodeHeaders(timestampMs), now);
    place.headersVersion = gop.headersVersion;
    place.isWaiting = false;
  }

  /** Encodes the headers, once for all viewers that begin at the same message. */
  #encodeHeaders(timestampMs: number): Buffer {
    const { gop, encoding } = this.#options;
    const version = gop.headersVersion;
    if (this.#headers?.version !== version || this.#headers.timestampMs !== timestampMs) {
      const bytes = Buffer.concat(
        gop.headers.map((header) => encoding.encode(header.kind === 'data' ? header : { ...header, timestampMs })),
      );
      this.#headers = { version, timestampMs, bytes };
    }
    return this.#headers.bytes;
  }
}

function write({ viewer, gauge }: LaneSeat, bytes: Buffer, now: number): void {
  if (bytes.length === 0) return;
  viewer.write(bytes);
  gauge.noteWritten(bytes.length, viewer.queuedBytes, now);
}
