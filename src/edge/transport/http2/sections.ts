/** HEADERS and the CONTINUATION frames behind them, as whole sections of fields. RFC 9113 §4.3, §6.2, §6.10. Pure. */
import { type FrameReader, unpad } from './frame-reader.ts';
import { FrameFlag, FrameType, Http2ErrorCode, PRIORITY_BYTES } from './frames.ts';

export interface WholeSection {
  readonly streamId: number;
  readonly endsStream: boolean;
  /** Only lent. */
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

interface BegunSection {
  readonly streamId: number;
  readonly endsStream: boolean;
  readonly pieces: Buffer[];
  bytes: number;
}

/** Frames and bytes of one section. A field list that is too large for a request, and is answered so, still fits. */
const MAX_FRAMES = 32;
const MAX_BYTES = 96 * 1024;

export class Sections {
  #begun: BegunSection | undefined;

  /** Nothing but its next frame may come. */
  get isBegun(): boolean {
    return this.#begun !== undefined;
  }

  /** The frame that was read last, a HEADERS or CONTINUATION. Else why the connection cannot go on. */
  take(reader: FrameReader): WholeSection | 'more' | Http2ErrorCode {
    return reader.type === FrameType.headers ? this.#begin(reader) : this.#goOn(reader);
  }

  #begin(reader: FrameReader): WholeSection | 'more' | Http2ErrorCode {
    const { bytes, flags, streamId } = reader;
    const part = unpad(reader, (flags & FrameFlag.priority) === 0 ? 0 : PRIORITY_BYTES);
    if (streamId === 0 || part === undefined) return Http2ErrorCode.protocol;
    const endsStream = (flags & FrameFlag.endStream) !== 0;
    if ((flags & FrameFlag.endHeaders) !== 0) return { streamId, endsStream, bytes, start: part.start, end: part.end };
    const piece = Buffer.from(bytes.subarray(part.start, part.end));
    this.#begun = { streamId, endsStream, pieces: [piece], bytes: piece.length };
    return 'more';
  }

  #goOn({ bytes, start, end, flags, streamId }: FrameReader): WholeSection | 'more' | Http2ErrorCode {
    const begun = this.#begun;
    if (begun?.streamId !== streamId) return Http2ErrorCode.protocol;
    begun.pieces.push(Buffer.from(bytes.subarray(start, end)));
    begun.bytes += end - start;
    if (begun.bytes > MAX_BYTES || begun.pieces.length > MAX_FRAMES) return Http2ErrorCode.enhanceYourCalm;
    if ((flags & FrameFlag.endHeaders) === 0) return 'more';
    this.#begun = undefined;
    return { streamId, endsStream: begun.endsStream, bytes: Buffer.concat(begun.pieces), start: 0, end: begun.bytes };
  }
}
