/** Whether a WebSocket connection is between two frames, without reading their payloads. RFC 6455 §5.2 */

const SHORT_HEADER_BYTES = 2;
const LENGTH_16 = 126;
const LENGTH_64 = 127;
const MASK_BYTES = 4;
const OPCODE_CLOSE = 8;

export class FrameBoundary {
  readonly #header = Buffer.alloc(10);
  /** Bytes of the present header that have passed. */
  #headerBytes = 0;
  /** Bytes of the present payload, with its mask, that have not passed. */
  #skipBytes = 0;
  #hasClosed = false;

  /** Whether a frame may be inserted here. After a close frame none may. */
  get isBetweenFrames(): boolean {
    return this.#headerBytes === 0 && this.#skipBytes === 0 && !this.#hasClosed;
  }

  /** Notes that these bytes have passed. */
  pass(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      const skipped = Math.min(this.#skipBytes, bytes.length - at);
      this.#skipBytes -= skipped;
      at += skipped;
      if (at === bytes.length) return;
      this.#header[this.#headerBytes++] = bytes[at++] ?? 0;
      if (this.#headerBytes < SHORT_HEADER_BYTES || this.#headerBytes < headerSize(this.#header)) continue;
      this.#headerBytes = 0;
      this.#skipBytes = payloadSize(this.#header);
      this.#hasClosed ||= (byteAt(this.#header, 0) & 0x0f) === OPCODE_CLOSE;
    }
  }
}

/** Returns the size of a header, apart from the mask. */
function headerSize(header: Buffer): number {
  const length = byteAt(header, 1) & 0x7f;
  if (length === LENGTH_64) return 10;
  return length === LENGTH_16 ? 4 : SHORT_HEADER_BYTES;
}

/** Returns the size of what follows the header: mask and payload. */
function payloadSize(header: Buffer): number {
  const second = byteAt(header, 1);
  const length = second & 0x7f;
  const maskBytes = (second & 0x80) === 0 ? 0 : MASK_BYTES;
  if (length === LENGTH_64) return header.readUInt32BE(2) * 2 ** 32 + header.readUInt32BE(6) + maskBytes;
  return (length === LENGTH_16 ? header.readUInt16BE(2) : length) + maskBytes;
}

function byteAt(header: Buffer, index: number): number {
  return header[index] ?? 0;
}
