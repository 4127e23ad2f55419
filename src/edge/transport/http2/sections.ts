/** Joins HEADERS and its CONTINUATION frames to whole field sections. RFC 9113 §4.3, §6.2, §6.10. Pure. */
import { type FrameReader, unpad } from './frame-reader.ts';
import { FrameFlag, FrameType, Http2ErrorCode, PRIORITY_BYTES } from './frames.ts';

export interface WholeSection {
  readonly streamId: number;
  readonly endsStream: boolean;
  /** Valid only until the next frame is read. */
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

/** Limits of one section. A field list that is answered with 431 still fits. */
const MAX_FRAMES = 32;
const MAX_BYTES = 96 * 1024;

export class Sections {
  #begun: BegunSection | undefined;

  /** Whether a section is incomplete, so that only its CONTINUATION may follow. */
  get isBegun(): boolean {
    return this.#begun !== undefined;
  }

  /** Takes the HEADERS or CONTINUATION frame that was read last. An error code ends the connection. */
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
