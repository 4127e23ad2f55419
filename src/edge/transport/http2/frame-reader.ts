/** Splits the bytes of a connection into frames, however they are chunked. Pure. RFC 9113 §4.1 */
import { FRAME_HEAD_BYTES, FrameFlag, MAX_PAYLOAD_BYTES, readUint31 } from './frames.ts';

export class FrameReader {
  // The frame that was read last. The bytes are the connection's own, so copy what is kept.
  type = 0;
  flags = 0;
  streamId = 0;
  bytes: Buffer = NOTHING;
  /** Offset of the payload's first byte in `bytes`. */
  start = 0;
  /** Offset after the payload. */
  end = 0;
  /** Input that is not read yet, from `#at`. */
  #input: Buffer = NOTHING;
  #at = 0;
  /** A frame that arrived in several pieces: as long as its head says, or a frame head while that is incomplete. */
  #begun: Buffer | undefined;
  #begunBytes = 0;

  /** Adds input. All earlier input must have been read. */
  push(bytes: Buffer): void {
    this.#input = bytes;
    this.#at = 0;
  }

  /** Reads the next frame. `tooLarge`: the payload is longer than agreed, so nothing after it can be read. */
  next(): 'frame' | 'more' | 'tooLarge' {
    if (this.#begun !== undefined) return this.#goOn(this.#begun);
    const left = this.#input.length - this.#at;
    const sizeBytes = left < FRAME_HEAD_BYTES ? FRAME_HEAD_BYTES : frameBytes(this.#input, this.#at);
    if (sizeBytes > MAX_FRAME_BYTES) return 'tooLarge';
    if (left >= sizeBytes) {
      this.#show(this.#input, this.#at, sizeBytes);
      this.#at += sizeBytes;
      return 'frame';
    }
    if (left > 0) {
      this.#begunBytes = 0;
      return this.#goOn(Buffer.allocUnsafeSlow(sizeBytes));
    }
    this.#input = NOTHING;
    return 'more';
  }

  #goOn(begun: Buffer): 'frame' | 'more' | 'tooLarge' {
    this.#begun = begun;
    const taken = this.#input.copy(begun, this.#begunBytes, this.#at);
    this.#at += taken;
    this.#begunBytes += taken;
    if (this.#begunBytes < begun.length) {
      this.#input = NOTHING;
      return 'more';
    }
    const sizeBytes = frameBytes(begun, 0);
    if (sizeBytes > MAX_FRAME_BYTES) return 'tooLarge';
    if (sizeBytes > begun.length) {
      const whole = Buffer.allocUnsafeSlow(sizeBytes);
      begun.copy(whole);
      return this.#goOn(whole);
    }
    this.#begun = undefined;
    this.#show(begun, 0, sizeBytes);
    return 'frame';
  }

  #show(bytes: Buffer, at: number, sizeBytes: number): void {
    this.type = bytes[at + 3] ?? 0;
    this.flags = bytes[at + 4] ?? 0;
    this.streamId = readUint31(bytes, at + 5);
    this.bytes = bytes;
    this.start = at + FRAME_HEAD_BYTES;
    this.end = at + sizeBytes;
  }
}

/**
 * Returns the payload without padding and without the `moreBytes` before it; `undefined` if the padding is longer than
 * the payload. RFC 9113 §6.1
 */
export function unpad(
  { bytes, start, end, flags }: FrameReader,
  moreBytes = 0,
): { readonly start: number; readonly end: number } | undefined {
  const isPadded = (flags & FrameFlag.padded) !== 0;
  const from = start + (isPadded ? 1 : 0) + moreBytes;
  const to = end - (isPadded ? (bytes[start] ?? 0) : 0);
  return from > to ? undefined : { start: from, end: to };
}

const MAX_FRAME_BYTES = FRAME_HEAD_BYTES + MAX_PAYLOAD_BYTES;
const NOTHING = Buffer.alloc(0);

function frameBytes(bytes: Buffer, at: number): number {
  return FRAME_HEAD_BYTES + (((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0));
}
