/**
 * The messages that a viewer needs to begin in the middle of a broadcast: metadata, sequence headers, and everything
 * since the last key frame. Pure.
 */
import type { TrackPresence } from './encoding.ts';
import type { MediaFacts } from './media/describe.ts';
import type { MediaMessage } from './media/message.ts';

export interface GopLimits {
  /** Media time of the longest group of pictures that is kept. */
  readonly maxGopMs: number;
  readonly maxGopBytes: number;
}

/** `header`: metadata or a sequence header. `start`: a decoder can begin here. `more`: depends on earlier messages. */
export type MessageRole = 'header' | 'start' | 'more';

/** Memory per message besides its payload. */
const MESSAGE_OVERHEAD_BYTES = 256;

export class GopCache {
  readonly #limits: GopLimits;
  readonly #headers = new Map<'data' | 'video' | 'audio', MediaMessage>();
  #headersVersion = 0;
  #messages: MediaMessage[] = [];
  #bytes = 0;
  #generation = 0;
  #hasKeptLast = false;
  #hasAudio = false;
  #lastVideoMs: number | undefined;

  constructor(limits: GopLimits) {
    this.#limits = limits;
  }

  /** Headers of the current publisher: metadata first, then video, then audio. */
  get headers(): readonly MediaMessage[] {
    return ORDER.map((kind) => this.#headers.get(kind)).filter((header) => header !== undefined);
  }

  /** Rises when a header changes; 0 before the first. */
  get headersVersion(): number {
    return this.#headersVersion;
  }

  /** Messages since the last key frame; empty before the first key frame, beyond the limits, and without video. */
  get messages(): readonly MediaMessage[] {
    return this.#messages;
  }

  /** Changes whenever `messages` is cleared. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether the message that was added last is the last of `messages`. */
  get hasKeptLast(): boolean {
    return this.#hasKeptLast;
  }

  get tracks(): TrackPresence {
    return { hasAudio: this.#hasAudio, hasVideo: this.#lastVideoMs !== undefined };
  }

  /** Counts headers and messages. */
  get bytesHeld(): number {
    let headerBytes = 0;
    for (const { data } of this.#headers.values()) headerBytes += data.length;
    return headerBytes + this.#bytes;
  }

  /** Drops `messages`; they begin anew with the next key frame. */
  empty(): void {
    if (this.#messages.length > 0) this.#clear();
  }

  add(message: MediaMessage, facts: MediaFacts): MessageRole {
    this.#hasKeptLast = false;
    if (message.kind === 'audio') this.#hasAudio = true;
    if (message.kind === 'video') this.#lastVideoMs = message.timestampMs;
    if (facts.isSequenceHeader || facts.isMetadata) {
      this.#takeHeader(message);
      return 'header';
    }
    if (facts.isKeyFrame) {
      this.#clear();
      this.#keep(message);
      return 'start';
    }
    if (message.kind === 'audio' && !this.#hasVideo(message.timestampMs)) {
      if (this.#messages.length > 0) this.#clear();
      return 'start';
    }
    if (this.#messages.length > 0) this.#keep(message);
    return 'more';
  }

  #takeHeader(message: MediaMessage): void {
    const known = this.#headers.get(message.kind);
    if (known?.data.equals(message.data) === true) return;
    this.#headers.set(message.kind, message);
    this.#headersVersion++;
    // Messages encoded with other parameters cannot follow the new header.
    if (message.kind !== 'data') this.#clear();
  }

  /** Whether the stream has video that has not stopped. Audio alone can begin anywhere. */
  #hasVideo(now: number): boolean {
    return this.#lastVideoMs !== undefined && now - this.#lastVideoMs <= this.#limits.maxGopMs;
  }

  #keep(message: MediaMessage): void {
    this.#messages.push(message);
    this.#bytes += message.data.length + MESSAGE_OVERHEAD_BYTES;
    const lengthMs = message.timestampMs - (this.#messages[0]?.timestampMs ?? 0);
    if (lengthMs > this.#limits.maxGopMs || this.#bytes > this.#limits.maxGopBytes) this.#clear();
    else this.#hasKeptLast = true;
  }

  #clear(): void {
    this.#messages = [];
    this.#bytes = 0;
    this.#generation++;
  }
}

const ORDER = ['data', 'video', 'audio'] as const;
