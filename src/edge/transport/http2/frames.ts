/** Frames of HTTP/2 as bytes. RFC 9113 §4.1, §6, §7. Pure. */

export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;

export const FrameFlag = { ack: 1, endStream: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export const Http2ErrorCode = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  enhanceYourCalm: 11,
} as const;
export type Http2ErrorCode = (typeof Http2ErrorCode)[keyof typeof Http2ErrorCode];

export const FRAME_HEAD_BYTES = 9;

/** Largest payload that is sent and accepted: every endpoint supports this size. */
export const MAX_PAYLOAD_BYTES = 16_384;

/** Size of a PRIORITY payload, and of the priority fields in HEADERS. RFC 9113 §6.3 */
export const PRIORITY_BYTES = 5;

/** Connection preface that precedes the client's frames. RFC 9113 §3.4 */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export interface FrameHead {
  readonly type: number;
  readonly flags: number;
  /** 0 for the connection itself. */
  readonly streamId: number;
}

export function writeFrameHead(bytes: Buffer, at: number, payloadBytes: number, { type, flags, streamId }: FrameHead) {
  bytes[at] = payloadBytes >>> 16;
  bytes[at + 1] = payloadBytes >>> 8;
  bytes[at + 2] = payloadBytes;
  bytes[at + 3] = type;
  bytes[at + 4] = flags;
  writeUint32(bytes, at + 5, streamId);
}

export function writeUint32(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

export function readUint32(bytes: Uint8Array, at: number): number {
  return (readUint31(bytes, at) | ((bytes[at] ?? 0) << 24)) >>> 0;
}

/** Reads 31 bits; the reserved first bit is ignored. */
export function readUint31(bytes: Uint8Array, at: number): number {
  const high = (((bytes[at] ?? 0) & 0x7f) << 24) | ((bytes[at + 1] ?? 0) << 16);
  return high | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
}

export function formatFrame(head: FrameHead, payload: Uint8Array = NOTHING): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEAD_BYTES + payload.length);
  writeFrameHead(bytes, 0, payload.length, head);
  bytes.set(payload, FRAME_HEAD_BYTES);
  return bytes;
}

export function formatReset(streamId: number, code: Http2ErrorCode): Buffer {
  return formatFrame({ type: FrameType.reset, flags: 0, streamId }, uint32(code));
}

export function formatWindowUpdate(streamId: number, bytes: number): Buffer {
  return formatFrame({ type: FrameType.window, flags: 0, streamId }, uint32(bytes));
}

/** `lastId`: id of the last stream that was or may be processed. */
export function formatGoaway(lastId: number, code: Http2ErrorCode): Buffer {
  return formatFrame({ type: FrameType.goaway, flags: 0, streamId: 0 }, Buffer.concat([uint32(lastId), uint32(code)]));
}

/** Largest id of a stream. */
const MAX_STREAM_ID = 2 ** 31 - 1;

/**
 * Formats a GOAWAY that refuses nothing: the client opens no further streams, and those that it has sent are served. The
 * final GOAWAY must follow after a round trip. RFC 9113 §6.8
 */
export function formatGoawayNotice(): Buffer {
  return formatGoaway(MAX_STREAM_ID, Http2ErrorCode.none);
}

/** Formats a field section as HEADERS, followed by CONTINUATION frames if it does not fit one frame. RFC 9113 §4.3 */
export function formatSection(streamId: number, section: Buffer, endsStream: boolean): Buffer {
  const ends = endsStream ? FrameFlag.endStream : 0;
  const frames: Buffer[] = [];
  for (let at = 0; at === 0 || at < section.length; at += MAX_PAYLOAD_BYTES) {
    const isLast = at + MAX_PAYLOAD_BYTES >= section.length;
    const type = at === 0 ? FrameType.headers : FrameType.continuation;
    const flags = (at === 0 ? ends : 0) | (isLast ? FrameFlag.endHeaders : 0);
    frames.push(formatFrame({ type, flags, streamId }, section.subarray(at, at + MAX_PAYLOAD_BYTES)));
  }
  const [only] = frames;
  return only !== undefined && frames.length === 1 ? only : Buffer.concat(frames);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  writeUint32(bytes, 0, value);
  return bytes;
}

const NOTHING = new Uint8Array(0);
