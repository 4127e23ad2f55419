/**
 * Parses the responses on one connection to an origin from pieces of any size: interim heads, the head, and the body
 * without its framing. Reads no socket; its only effects are the calls to its owner. RFC 9112
 */
import type { RawHeaders } from '#http/headers.ts';
import { MAX_INTERIM, MAX_RESPONSE_HEAD_BYTES } from '../response-limits.ts';
import { ChunkSizeReader } from './chunk-size.ts';
import { frameResponse } from './framing.ts';
import { MORE, SectionReader, TOO_LARGE } from './section-reader.ts';

export interface ParsedHead {
  readonly status: number;
  readonly reason: string;
  readonly headers: RawHeaders;
}

/** Why a response was refused. */
interface Fault {
  readonly failure: 'originMalformed' | 'originHeaderTooLarge';
  readonly detail: string;
}

/** Notified of the parts of a response, in order. */
export interface ReaderOwner {
  /** An interim response other than 100. */
  onInterim(status: number, headers: RawHeaders): void;
  onHead(head: ParsedHead): void;
  /** Bytes of the body, valid during the call only. All chunks of one piece are passed in one call. */
  onBody(bytes: Buffer): void;
}

type Part = 'nothing' | 'head' | 'length' | 'close' | 'chunkSize' | 'chunk' | 'chunkEnd' | 'trailers' | 'over';

export class ResponseReader {
  /** While true, nothing is read: `read` returns the offset after the bytes that were read. */
  isPaused = false;
  readonly #owner: ReaderOwner;
  readonly #section = new SectionReader();
  readonly #chunkSize = new ChunkSizeReader();
  #part: Part = 'nothing';
  #isHeadRequest = false;
  #interims = 0;
  /** Bytes missing of the body or chunk; in `chunkEnd`, the bytes of the line end that have arrived. */
  #left = 0;
  #isLast = false;
  #idleMs = 0;
  #fault: Fault | undefined;
  // Span of the joined chunks in the piece that is being read. Empty if the two are equal.
  #chunksAt = 0;
  #chunksEnd = 0;

  constructor(owner: ReaderOwner) {
    this.#owner = owner;
  }

  /** The next bytes are the response to a request that is being sent. */
  expect(isHeadRequest: boolean): void {
    this.#isHeadRequest = isHeadRequest;
    this.#interims = 0;
    this.isPaused = false;
    this.#section.begin('head');
    this.#part = 'head';
  }

  /** Whether the whole response has been read. */
  get isOver(): boolean {
    return this.#part === 'over';
  }

  /** Whether the connection must not be reused after the response. */
  get isLast(): boolean {
    return this.#isLast;
  }

  /** How long the connection may be idle after the response. */
  get idleMs(): number {
    return this.#idleMs;
  }

  /** Set if the response was refused; nothing more is read then. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /**
   * Returns the offset of the first byte that was not read, because of a pause, a fault or the end of the response.
   * Overwrites the bytes that were read: chunks are moved together.
   */
  read(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length && !this.isPaused && this.#part !== 'over' && this.#fault === undefined) {
      at = this.#readPart(bytes, at);
    }
    this.#giveChunks(bytes);
    return at;
  }

  /** The origin has closed the connection. Returns whether that completes the response. RFC 9112 §8 */
  end(): boolean {
    if (this.#part === 'close') this.#part = 'over';
    return this.#part === 'over';
  }

  #readPart(bytes: Buffer, at: number): number {
    switch (this.#part) {
      case 'head':
        return this.#readHead(bytes, at);
      case 'length':
        return this.#giveLength(bytes, at);
      case 'close':
        this.#owner.onBody(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
      case 'chunkSize':
        return this.#readChunkSize(bytes, at);
      case 'chunk':
        return this.#readChunk(bytes, at);
      case 'chunkEnd':
        return this.#readChunkEnd(bytes, at);
      case 'trailers':
        return this.#readTrailers(bytes, at);
      default:
        return bytes.length; // not reached: no response is expected
    }
  }

  #refuse(failure: Fault['failure'], detail: string, at: number): number {
    this.#fault = { failure, detail };
    return at;
  }

  #readHead(bytes: Buffer, at: number): number {
    const end = this.#section.read(bytes, at);
    if (end === MORE) return bytes.length;
    if (end === TOO_LARGE)
      return this.#refuse('originHeaderTooLarge', `a head beyond ${MAX_RESPONSE_HEAD_BYTES} bytes`, at);
    if (end < 0) return this.#refuse('originMalformed', 'no head of an HTTP/1.1 response', at);
    const { status, minorVersion, reason, headers } = this.#section;
    const framing = frameResponse({ isHeadRequest: this.#isHeadRequest, status, minorVersion, headers });
    if (framing.kind === 'malformed') return this.#refuse('originMalformed', framing.detail, at);
    if (status < 200) return this.#takeInterim(status, framing.headers, end);
    this.#isLast = framing.isLast;
    this.#idleMs = framing.idleMs;
    this.#left = framing.lengthBytes;
    this.#part = PART_BEHIND_HEAD[framing.body];
    if (this.#part === 'length' && this.#left === 0) this.#part = 'over';
    if (this.#part === 'chunkSize') this.#chunkSize.begin();
    this.#owner.onHead({ status, reason, headers: framing.headers });
    return end;
  }

  /** Drops a 100, which no request asks for. RFC 9110 §15.2 */
  #takeInterim(status: number, headers: RawHeaders, end: number): number {
    if (status === 101) return this.#refuse('originMalformed', 'a 101 that nobody asked for', end);
    if (++this.#interims > MAX_INTERIM) return this.#refuse('originMalformed', 'too many interim responses', end);
    this.#section.begin('head');
    if (status !== 100) this.#owner.onInterim(status, headers);
    return end;
  }

  #giveLength(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#part = 'over';
    this.#owner.onBody(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    return end;
  }

  /**
   * Moves the chunk next to the one before it in this piece. An origin may send chunks of one byte; passing each on by
   * itself would cost thousands of times its size.
   */
  #readChunk(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#part = 'chunkEnd';
    if (this.#chunksEnd === this.#chunksAt) {
      this.#chunksAt = at;
      this.#chunksEnd = end;
    } else {
      bytes.copyWithin(this.#chunksEnd, at, end);
      this.#chunksEnd += end - at;
    }
    return end;
  }

  #giveChunks(bytes: Buffer): void {
    if (this.#chunksEnd === this.#chunksAt) return;
    const chunks = bytes.subarray(this.#chunksAt, this.#chunksEnd);
    this.#chunksAt = 0;
    this.#chunksEnd = 0;
    this.#owner.onBody(chunks);
  }

  #readChunkSize(bytes: Buffer, at: number): number {
    const end = this.#chunkSize.read(bytes, at);
    if (end === MORE) return bytes.length;
    if (end < 0) return this.#refuse('originMalformed', 'a chunk without a valid size', at);
    this.#left = this.#chunkSize.size;
    this.#part = this.#left > 0 ? 'chunk' : 'trailers';
    if (this.#part === 'trailers') this.#section.begin('trailers');
    return end;
  }

  #readChunkEnd(bytes: Buffer, from: number): number {
    let at = from;
    for (; at < bytes.length && this.#left < LINE_END.length; at++, this.#left++) {
      if (bytes[at] !== LINE_END[this.#left]) return this.#refuse('originMalformed', 'a chunk without its end', at);
    }
    if (this.#left < LINE_END.length) return at;
    this.#part = 'chunkSize';
    this.#chunkSize.begin();
    return at;
  }

  /** Trailers are validated and dropped. RFC 9112 §7.1.2 */
  #readTrailers(bytes: Buffer, at: number): number {
    const end = this.#section.read(bytes, at);
    if (end === MORE) return bytes.length;
    if (end < 0) return this.#refuse('originMalformed', 'trailers that are malformed or too large', at);
    this.#part = 'over';
    return end;
  }
}

const PART_BEHIND_HEAD = { none: 'over', length: 'length', chunked: 'chunkSize', close: 'close' } as const;
const LINE_END = Buffer.from('\r\n', 'latin1');
