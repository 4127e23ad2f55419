/** Writes FLV headers and tags, and reads them from pieces of any size. Adobe FLV specification 10.1, annex E */
import type { MediaMessage } from './message.ts';

const TAG_HEADER_BYTES = 11;
const PREVIOUS_SIZE_BYTES = 4;
const FILE_HEADER_BYTES = 9;
/** Longest accepted file header, which declares its own length; 9 in practice. */
const MAX_FILE_HEADER_BYTES = 64;
/** Largest accepted tag, the same as the largest RTMP message of an accepted publisher. */
const MAX_TAG_BYTES = 8 * 1024 * 1024;

const TAG_TYPES = { audio: 8, video: 9, data: 18 } as const;

/** Writes the file header with the first "previous tag size". Players wait for a track that the header announces. */
export function flvHeader({ hasAudio, hasVideo }: { hasAudio: boolean; hasVideo: boolean }): Buffer {
  const flags = (hasAudio ? 4 : 0) | (hasVideo ? 1 : 0);
  return Buffer.from([0x46, 0x4c, 0x56, 1, flags, 0, 0, 0, FILE_HEADER_BYTES, 0, 0, 0, 0]);
}

/** Writes a tag with the size that follows it. The timestamp wraps at 32 bits, as RTMP's does. */
export function writeFlvTag({ kind, timestampMs, data }: MediaMessage): Buffer {
  const { length } = data;
  const bytes = Buffer.allocUnsafe(TAG_HEADER_BYTES + length + PREVIOUS_SIZE_BYTES);
  const low32 = timestampMs >>> 0;
  bytes[0] = TAG_TYPES[kind];
  bytes.writeUIntBE(length, 1, 3);
  bytes.writeUIntBE(low32 & 0xffffff, 4, 3);
  bytes[7] = low32 >>> 24;
  bytes.writeUIntBE(0, 8, 3);
  data.copy(bytes, TAG_HEADER_BYTES);
  bytes.writeUInt32BE(TAG_HEADER_BYTES + length, TAG_HEADER_BYTES + length);
  return bytes;
}

export class FlvError extends Error {
  /**
   * `notFlv`: the header is not that of FLV version 1. `tagTooLarge`: a tag exceeds the reader's limit. `encrypted`: a
   * tag is encrypted.
   */
  readonly reason: 'notFlv' | 'tagTooLarge' | 'encrypted';

  constructor(reason: FlvError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Reads a file or an endless response. Skips empty tags and those of unknown types. Unusable after an error. */
export class FlvReader {
  readonly #maxTagBytes: number;
  /** The header or tag that is being read, and how many of its bytes have arrived. */
  #piece: Buffer = Buffer.alloc(FILE_HEADER_BYTES);
  #filled = 0;
  #reading: 'fileHeader' | 'skip' | 'tagHeader' | 'body' = 'fileHeader';
  #kind: MediaMessage['kind'] | undefined;
  #timestampMs = 0;

  constructor({ maxTagBytes = MAX_TAG_BYTES }: { maxTagBytes?: number } = {}) {
    this.#maxTagBytes = maxTagBytes;
  }

  /** Size of the tag that is being read. */
  get partialBytes(): number {
    return this.#piece.length;
  }

  /** Returns the messages that these bytes complete, with their data copied. Throws an `FlvError`. */
  push(bytes: Buffer): MediaMessage[] {
    const messages: MediaMessage[] = [];
    let at = 0;
    while (at < bytes.length) {
      const taken = bytes.copy(this.#piece, this.#filled, at);
      at += taken;
      this.#filled += taken;
      if (this.#filled < this.#piece.length) break;
      const message = this.#finish(this.#piece);
      if (message !== undefined) messages.push(message);
    }
    return messages;
  }

  #finish(piece: Buffer): MediaMessage | undefined {
    switch (this.#reading) {
      case 'fileHeader':
        this.#await('skip', readFileHeader(piece) - FILE_HEADER_BYTES + PREVIOUS_SIZE_BYTES);
        return undefined;
      case 'skip':
        this.#await('tagHeader', TAG_HEADER_BYTES);
        return undefined;
      case 'tagHeader':
        this.#readTagHeader(piece);
        return undefined;
      case 'body': {
        // The size after a tag is not checked: some writers get it wrong.
        const kind = this.#kind;
        const data = piece.subarray(0, piece.length - PREVIOUS_SIZE_BYTES);
        this.#await('tagHeader', TAG_HEADER_BYTES);
        return kind === undefined || data.length === 0 ? undefined : { kind, timestampMs: this.#timestampMs, data };
      }
    }
  }

  #readTagHeader(piece: Buffer): void {
    const type = piece[0] ?? 0;
    const size = piece.readUIntBE(1, 3);
    if ((type & 0x20) !== 0) throw new FlvError('encrypted', 'an FLV tag is encrypted');
    if (size > this.#maxTagBytes)
      throw new FlvError('tagTooLarge', `an FLV tag of ${size} bytes: at most ${this.#maxTagBytes} are read`);
    this.#kind = kindOf(type & 0x1f);
    this.#timestampMs = ((piece[7] ?? 0) * 0x1000000 + piece.readUIntBE(4, 3)) >>> 0;
    this.#await('body', size + PREVIOUS_SIZE_BYTES);
  }

  #await(reading: 'skip' | 'tagHeader' | 'body', bytes: number): void {
    this.#reading = reading;
    this.#piece = Buffer.allocUnsafe(bytes);
    this.#filled = 0;
  }
}

/** Returns the header's length. */
function readFileHeader(piece: Buffer): number {
  const length = piece.readUInt32BE(5);
  const isFlv = piece.toString('latin1', 0, 3) === 'FLV' && piece[3] === 1;
  if (!isFlv || length < FILE_HEADER_BYTES || length > MAX_FILE_HEADER_BYTES)
    throw new FlvError('notFlv', 'the bytes do not begin with the header of FLV version 1');
  return length;
}

function kindOf(type: number): MediaMessage['kind'] | undefined {
  if (type === TAG_TYPES.audio) return 'audio';
  if (type === TAG_TYPES.video) return 'video';
  return type === TAG_TYPES.data ? 'data' : undefined;
}
