/** WebSocket frames (RFC 6455 §5): writes those of the server, and reads the control frames of clients. Pure. */

/** A control frame of a client; data frames are skipped. */
export type ClientFrame =
  | { readonly kind: 'ping'; readonly payload: Buffer }
  | { readonly kind: 'close' }
  /** Unmasked, with a reserved bit, or a control frame that is too long: the connection must be closed. */
  | { readonly kind: 'malformed' };

const BINARY = 0x82;
const CLOSE = 0x88;
const PONG = 0x8a;
const MAX_CONTROL_BYTES = 125;

/** Returns the header of an unfragmented binary message. */
export function dataHeader(bytes: number): Buffer {
  if (bytes <= MAX_CONTROL_BYTES) return Buffer.from([BINARY, bytes]);
  if (bytes <= 0xffff) {
    const header = Buffer.from([BINARY, 126, 0, 0]);
    header.writeUInt16BE(bytes, 2);
    return header;
  }
  const header = Buffer.alloc(10);
  header[0] = BINARY;
  header[1] = 127;
  header.writeUIntBE(bytes, 4, 6);
  return header;
}

/** `code`: RFC 6455 §7.4 */
export function closeFrame(code: number): Buffer {
  return Buffer.from([CLOSE, 2, code >> 8, code & 0xff]);
}

/** `payload`: at most 125 bytes. */
export function pongFrame(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([PONG, payload.length]), payload]);
}

export class ClientFrames {
  #header = Buffer.alloc(0);
  /** Bytes of a data frame still to be skipped. */
  #skipBytes = 0;
  #isOver = false;

  /** Returns the frames that these bytes complete. None follows `close` or `malformed`. */
  push(bytes: Buffer): ClientFrame[] {
    const frames: ClientFrame[] = [];
    let rest = this.#header.length === 0 ? bytes : Buffer.concat([this.#header, bytes]);
    this.#header = NOTHING;
    while (!this.#isOver) {
      const skipped = Math.min(this.#skipBytes, rest.length);
      this.#skipBytes -= skipped;
      rest = rest.subarray(skipped);
      const frame = readFrame(rest);
      if (frame === undefined) {
        this.#header = Buffer.from(rest); // less than a control frame
        break;
      }
      rest = rest.subarray(frame.usedBytes);
      this.#skipBytes = frame.skipBytes;
      if (frame.decoded === undefined) continue;
      frames.push(frame.decoded);
      this.#isOver = frame.decoded.kind !== 'ping';
    }
    return frames;
  }
}

const NOTHING = Buffer.alloc(0);

interface ReadFrame {
  readonly usedBytes: number;
  readonly skipBytes: number;
  readonly decoded: ClientFrame | undefined;
}

/** Returns `undefined` if the frame is incomplete. */
function readFrame(bytes: Buffer): ReadFrame | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  const opcode = first & 0x0f;
  const length = second & 0x7f;
  const isControl = opcode >= 8;
  if ((first & 0x70) !== 0 || (second & 0x80) === 0 || (isControl && length > MAX_CONTROL_BYTES)) return MALFORMED;
  const lengthBytes = length === 126 ? 2 : length === 127 ? 8 : 0;
  const headBytes = 2 + lengthBytes + 4;
  if (bytes.length < headBytes + (isControl ? length : 0)) return undefined;
  if (!isControl) {
    if (length === 127 && bytes.readUInt16BE(2) !== 0) return MALFORMED; // larger than any number of bytes here
    const skipBytes = length === 126 ? bytes.readUInt16BE(2) : length === 127 ? bytes.readUIntBE(4, 6) : length;
    return { usedBytes: headBytes, skipBytes, decoded: undefined };
  }
  const usedBytes = headBytes + length;
  const mask = bytes.subarray(2, 6);
  const payload = Buffer.from(bytes.subarray(6, usedBytes).map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
  const decoded: ClientFrame | undefined =
    opcode === 9 ? { kind: 'ping', payload } : opcode === 8 ? { kind: 'close' } : undefined;
  return { usedBytes, skipBytes: 0, decoded };
}

const MALFORMED: ReadFrame = { usedBytes: 0, skipBytes: 0, decoded: { kind: 'malformed' } };
