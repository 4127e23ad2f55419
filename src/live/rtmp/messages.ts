/**
 * RTMP messages: their types, control messages and aggregates. Pure. "Adobe's Real Time Messaging Protocol" 1.0, §5.4
 * and §7.1
 */

export interface RtmpMessage {
  readonly type: number;
  /** Milliseconds; 32 bits. */
  readonly timestamp: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

export const MESSAGE_TYPE = {
  setChunkSize: 1,
  abort: 2,
  acknowledgement: 3,
  userControl: 4,
  windowAcknowledgementSize: 5,
  setPeerBandwidth: 6,
  audio: 8,
  video: 9,
  dataAmf3: 15,
  commandAmf3: 17,
  data: 18,
  command: 20,
  aggregate: 22,
} as const;

/** Events of user control messages. §7.1.7 */
export const USER_EVENT = {
  streamBegin: 0,
  streamEof: 1,
  setBufferLength: 3,
  pingRequest: 6,
  pingResponse: 7,
} as const;

/** Thrown for a message whose payload does not match its type. */
export class RtmpMessageError extends Error {
  override readonly name = 'MessageError';
}

export function controlMessage(
  type: 'setChunkSize' | 'abort' | 'acknowledgement' | 'windowAcknowledgementSize',
  value: number,
): RtmpMessage {
  return { type: MESSAGE_TYPE[type], timestamp: 0, streamId: 0, payload: uint32(value) };
}

/** Set Peer Bandwidth with limit type 2, "dynamic". §5.4.5 */
export function setPeerBandwidth(windowBytes: number): RtmpMessage {
  const payload = Buffer.concat([uint32(windowBytes), Buffer.of(2)]);
  return { type: MESSAGE_TYPE.setPeerBandwidth, timestamp: 0, streamId: 0, payload };
}

export function userControl(event: keyof typeof USER_EVENT, value: number): RtmpMessage {
  const payload = Buffer.concat([Buffer.of(0, USER_EVENT[event]), uint32(value)]);
  return { type: MESSAGE_TYPE.userControl, timestamp: 0, streamId: 0, payload };
}

/** Returns the number in a control message. */
export function controlValue({ payload }: RtmpMessage, offset = 0): number {
  if (payload.length < offset + 4) throw new RtmpMessageError('a control message is too short');
  return payload.readUInt32BE(offset);
}

/**
 * Framing of a message within an aggregate: type, length, timestamp and stream id before it, its total length after it.
 */
const SUB_HEADER_BYTES = 11;
const SUB_TRAILER_BYTES = 4;

/**
 * Yields the messages within an aggregate, whose timestamp is that of its first message. A generator, because there may
 * be half a million. §7.1.6. Throws `RtmpMessageError` at a damaged message, after those before it.
 */
export function* splitAggregate({ payload, timestamp, streamId }: RtmpMessage): Generator<RtmpMessage> {
  let firstTimestamp: number | undefined;
  for (let at = 0; at < payload.length; ) {
    if (at + SUB_HEADER_BYTES > payload.length) throw new RtmpMessageError('an aggregate ends within a header');
    const length = payload.readUIntBE(at + 1, 3);
    const own = payload.readUIntBE(at + 4, 3) + payload.readUInt8(at + 7) * 0x1000000;
    const start = at + SUB_HEADER_BYTES;
    const end = start + length;
    if (end > payload.length) throw new RtmpMessageError('an aggregate ends within a message');
    firstTimestamp ??= own;
    yield {
      type: payload.readUInt8(at),
      timestamp: (timestamp + own - firstTimestamp) >>> 0,
      streamId,
      payload: payload.subarray(start, end),
    };
    at = end + SUB_TRAILER_BYTES; // the last one's trailer may be missing
  }
}

/** Returns data without the leading `@setDataFrame`; `undefined` for `@clearDataFrame`. */
export function plainData({ type, payload }: RtmpMessage): Buffer | undefined {
  const data = type === MESSAGE_TYPE.dataAmf3 ? payload.subarray(1) : payload;
  if (startsWith(data, CLEAR_DATA_FRAME)) return undefined;
  return startsWith(data, SET_DATA_FRAME) ? data.subarray(SET_DATA_FRAME.length) : data;
}

/** The names of the data commands as encoded AMF0 strings. */
const SET_DATA_FRAME = Buffer.from('\x02\x00\x0d@setDataFrame', 'latin1');
const CLEAR_DATA_FRAME = Buffer.from('\x02\x00\x0f@clearDataFrame', 'latin1');

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.length >= start.length && bytes.compare(start, 0, start.length, 0, start.length) === 0;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
