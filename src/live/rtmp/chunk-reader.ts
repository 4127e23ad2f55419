/**
 * Reads RTMP messages from chunks. Each payload byte is copied once, into its message. Pure: bytes in, messages out;
 * control messages about chunks are applied here. "Adobe's Real Time Messaging Protocol" 1.0, §5.3 and §5.4
 */
import { MESSAGE_TYPE, type RtmpMessage } from './messages.ts';

/** Thrown for bytes that are not chunks or exceed a limit. */
export class ChunkError extends Error {
  override readonly name = 'ChunkError';
}

export interface ChunkLimits {
  readonly maxMessageBytes: number;
  readonly maxChunkStreams: number;
  /** The announced size of all messages that have begun and are not complete. */
  readonly maxPartialBytes: number;
}

/** Limits for a client that has not been accepted yet. */
export const LIMITS_BEFORE: ChunkLimits = {
  maxMessageBytes: 64 * 1024,
  maxChunkStreams: 8,
  maxPartialBytes: 128 * 1024,
};

/** Limits for an accepted publisher. */
export const LIMITS_AFTER: ChunkLimits = {
  maxMessageBytes: 8 * 1024 * 1024,
  maxChunkStreams: 64,
  maxPartialBytes: 16 * 1024 * 1024,
};

/** The chunk size of each side until it sets another. §5.4.1 */
export const INITIAL_CHUNK_BYTES = 128;
/** Basic header, message header, extended timestamp. */
const MAX_HEADER_BYTES = 3 + 11 + 4;
/** Value of a 24-bit timestamp that announces an extended timestamp of four bytes. §5.3.1.3 */
const EXTENDED = 0xffffff;
/** The size of the message header by chunk type. §5.3.1.2 */
const MESSAGE_HEADER_BYTES = [11, 7, 3, 0] as const;

interface ChunkStream {
  timestamp: number;
  /** The timestamp field of the last header that had one: a delta, or the timestamp itself after a type 0 chunk. */
  delta: number;
  isExtended: boolean;
  /** Whether the sender was seen to leave the extended timestamp out of its type 3 chunks. */
  omitsExtended: boolean;
  type: number;
  streamId: number;
  length: number;
  /** The payload of the message in progress; `undefined` between messages. */
  payload: Buffer | undefined;
  filled: number;
}

export class ChunkReader {
  limits: ChunkLimits = LIMITS_BEFORE;
  readonly #streams = new Map<number, ChunkStream>();
  #chunkBytes = INITIAL_CHUNK_BYTES;
  #partialBytes = 0;
  /** The bytes pushed last, and the offset up to which they have been read. */
  #input: Buffer = Buffer.alloc(0);
  #at = 0;
  /** The beginning of an incomplete header. */
  readonly #kept = Buffer.alloc(MAX_HEADER_BYTES);
  #keptBytes = 0;
  /** The chunk stream whose payload is being read, and the bytes that its chunk still lacks. */
  #current: ChunkStream | undefined;
  #missing = 0;

  /** The announced size of all messages that have begun and are not complete. */
  get partialBytes(): number {
    return this.#partialBytes;
  }

  /** Takes the next bytes. The previous ones must have been read to their end: `next` has returned `undefined`. */
  push(bytes: Buffer): void {
    this.#input = bytes;
    this.#at = 0;
  }

  /**
   * Returns the next message; `undefined` if more bytes are needed. Throws `ChunkError`, after which nothing can be
   * read.
   */
  next(): RtmpMessage | undefined {
    for (;;) {
      this.#current ??= this.#readHeader();
      if (this.#current === undefined) return undefined;
      if (!this.#fill(this.#current)) return undefined;
      const stream = this.#current;
      this.#current = undefined;
      const message = this.#takeWhole(stream);
      if (message !== undefined && !this.#obey(message)) return message;
    }
  }

  /** Reads a header and begins its chunk. Returns `undefined` if the header is incomplete. */
  #readHeader(): ChunkStream | undefined {
    const { bytes, start } = this.#headerBytes();
    const available = bytes.length - start;
    if (available < 1) return undefined;
    const first = bytes.readUInt8(start);
    const basicBytes = basicHeaderBytes(first);
    const type = first >> 6;
    const fixedBytes = basicBytes + (MESSAGE_HEADER_BYTES[type] ?? 0);
    if (available < fixedBytes) return this.#keep(bytes, start);
    const id = chunkStreamId(bytes, start, basicBytes);
    const stream = this.#streamOf(id, type);
    const at = start + basicBytes;
    const isExtended = type === 3 ? stream.isExtended && !stream.omitsExtended : bytes.readUIntBE(at, 3) === EXTENDED;
    if (isExtended && available < fixedBytes + 4) return this.#keep(bytes, start);
    const extended = isExtended ? bytes.readUInt32BE(start + fixedBytes) : 0;
    const hasExtended = isExtended && (type !== 3 || repeatsExtended(stream, extended));
    this.#consume(fixedBytes + (hasExtended ? 4 : 0));
    if (type === 3) this.#continue(stream);
    else this.#applyHeader(stream, type, bytes, at, isExtended ? extended : undefined);
    this.#beginChunk(stream);
    return stream;
  }

  /** Returns the bytes of the next header: from the input, preceded by the kept beginning if there is one. */
  #headerBytes(): { readonly bytes: Buffer; readonly start: number } {
    if (this.#keptBytes === 0) return { bytes: this.#input, start: this.#at };
    const copied = this.#input.copy(this.#kept, this.#keptBytes, this.#at);
    return { bytes: this.#kept.subarray(0, this.#keptBytes + copied), start: 0 };
  }

  #keep(bytes: Buffer, start: number): undefined {
    if (bytes === this.#input) bytes.copy(this.#kept, 0, start);
    this.#keptBytes = bytes.length - start;
    this.#at = this.#input.length;
    return undefined;
  }

  #consume(headerBytes: number): void {
    const keptBytes = this.#keptBytes;
    this.#keptBytes = 0;
    if (keptBytes <= headerBytes) this.#at += headerBytes - keptBytes;
    // The kept bytes of an assumed extended timestamp are payload.
    else this.push(Buffer.concat([this.#kept.subarray(headerBytes, keptBytes), this.#input.subarray(this.#at)]));
  }

  #streamOf(id: number, type: number): ChunkStream {
    const known = this.#streams.get(id);
    if (known !== undefined) return known;
    // Some senders begin with a type 1 chunk, whose delta is relative to zero then.
    if (type > 1) throw new ChunkError(`chunk stream ${id} begins without a header`);
    if (this.#streams.size >= this.limits.maxChunkStreams)
      throw new ChunkError(`more than ${this.limits.maxChunkStreams} chunk streams`);
    const created: ChunkStream = {
      timestamp: 0,
      delta: 0,
      isExtended: false,
      omitsExtended: false,
      type: 0,
      streamId: 0,
      length: 0,
      payload: undefined,
      filled: 0,
    };
    this.#streams.set(id, created);
    return created;
  }

  /** Applies a message header, which begins at `at`. */
  #applyHeader(stream: ChunkStream, type: number, bytes: Buffer, at: number, extended: number | undefined): void {
    this.#drop(stream);
    const time = extended ?? bytes.readUIntBE(at, 3);
    stream.isExtended = extended !== undefined;
    stream.delta = time;
    stream.timestamp = type === 0 ? time : (stream.timestamp + time) >>> 0;
    if (type === 2) return;
    stream.length = bytes.readUIntBE(at + 3, 3);
    stream.type = bytes.readUInt8(at + 6);
    if (type === 0) stream.streamId = bytes.readUInt32LE(at + 7);
  }

  /** Applies a type 3 chunk, which continues a message or begins one like the previous one. §5.3.1.2.4 */
  #continue(stream: ChunkStream): void {
    if (stream.payload === undefined) stream.timestamp = (stream.timestamp + stream.delta) >>> 0;
  }

  #beginChunk(stream: ChunkStream): void {
    if (stream.payload === undefined) {
      const { maxMessageBytes, maxPartialBytes } = this.limits;
      if (stream.length > maxMessageBytes)
        throw new ChunkError(`a message of ${stream.length} bytes; at most ${maxMessageBytes} are taken`);
      this.#partialBytes += stream.length;
      if (this.#partialBytes > maxPartialBytes)
        throw new ChunkError(`messages of more than ${maxPartialBytes} bytes have begun and not ended`);
      // Not from Node's pool: a message may be kept for long, and would keep its neighbours in memory.
      stream.payload = Buffer.allocUnsafeSlow(stream.length);
      stream.filled = 0;
    }
    this.#missing = Math.min(this.#chunkBytes, stream.length - stream.filled);
  }

  /** Copies payload. Returns whether the chunk is complete. */
  #fill(stream: ChunkStream): boolean {
    const { payload } = stream;
    if (payload === undefined) throw new ChunkError('a chunk without a message'); // impossible: `#beginChunk` has set it
    const count = Math.min(this.#missing, this.#input.length - this.#at);
    this.#input.copy(payload, stream.filled, this.#at, this.#at + count);
    stream.filled += count;
    this.#at += count;
    this.#missing -= count;
    return this.#missing === 0;
  }

  #takeWhole(stream: ChunkStream): RtmpMessage | undefined {
    const { payload, type, timestamp, streamId } = stream;
    if (payload === undefined || stream.filled < payload.length) return undefined;
    this.#drop(stream);
    return { type, timestamp, streamId, payload };
  }

  #drop(stream: ChunkStream): void {
    this.#partialBytes -= stream.payload?.length ?? 0;
    stream.payload = undefined;
    stream.filled = 0;
  }

  /** Applies a control message about chunks. Returns whether the message was one. */
  #obey({ type, payload }: RtmpMessage): boolean {
    if (type !== MESSAGE_TYPE.setChunkSize && type !== MESSAGE_TYPE.abort) return false;
    if (payload.length < 4) throw new ChunkError('a control message of less than four bytes');
    const value = payload.readUInt32BE(0);
    if (type === MESSAGE_TYPE.setChunkSize) {
      // §5.4.1: the highest bit is zero. Sizes beyond the longest message (24 bits) are valid.
      if (value < 1 || value > 0x7fffffff) throw new ChunkError(`a chunk size of ${value}`);
      this.#chunkBytes = value;
    } else {
      const stream = this.#streams.get(value);
      if (stream !== undefined) this.#drop(stream);
    }
    return true;
  }
}

function basicHeaderBytes(first: number): 1 | 2 | 3 {
  const low = first & 0x3f;
  return low === 0 ? 2 : low === 1 ? 3 : 1;
}

/** §5.3.1.1 */
function chunkStreamId(bytes: Buffer, start: number, basicBytes: 1 | 2 | 3): number {
  if (basicBytes === 1) return bytes.readUInt8(start) & 0x3f;
  const low = 64 + bytes.readUInt8(start + 1);
  return basicBytes === 2 ? low : low + bytes.readUInt8(start + 2) * 256;
}

/**
 * Whether a type 3 chunk repeats the extended timestamp, as §5.3.1.3 requires but some senders do not. Within a
 * message, four other bytes are payload; at its beginning they are a timestamp, unless the sender was seen to leave it
 * out. docs/decisions/0485
 */
function repeatsExtended(stream: ChunkStream, value: number): boolean {
  if (value === stream.delta || stream.payload === undefined) return true;
  stream.omitsExtended = true;
  return false;
}
