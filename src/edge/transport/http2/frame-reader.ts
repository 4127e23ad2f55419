/** Takes the bytes of a connection apart into frames, however they come. Pure. RFC 9113 §4.1 */
import { FRAME_HEAD_BYTES, FrameFlag, MAX_PAYLOAD_BYTES, readUint31 } from './frames.ts';

export class FrameReader {
  // Of the frame that was read last. The bytes are the connection's own: what is kept of them is copied.
  type = 0;
  flags = 0;
  streamId = 0;
  bytes: Buffer = NOTHING;
  /** Offset of the payload's first byte in `bytes`. */
  start = 0;
  /** Offset behind the payload. */
  end = 0;
  /** The input that is not read yet. */
  #input: Buffer = NOTHING;
  #at = 0;
  /** The beginning of a frame that came in several pieces: as long as its head says, or as a head. */
  #begun: Buffer | undefined;
  #begunBytes = 0;

  /** All that was there before has been read. */
  push(bytes: Buffer): void {
    this.#input = bytes;
    this.#at = 0;
  }

  /** `tooLarge`: its payload is longer than was agreed. Nothing can be read behind that. */
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

/** What of the payload is not padding, nor the `moreBytes` that stand before. `undefined`: there is more of it than is there. RFC 9113 §6.1 */
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
