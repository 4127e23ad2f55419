/** Writes messages as RTMP chunks. Pure. "Adobe's Real Time Messaging Protocol" 1.0, §5.3.1 */
import type { RtmpMessage } from './messages.ts';

/** Timestamps from this value on are written as an extended timestamp after the header. §5.3.1.3 */
const EXTENDED = 0xffffff;
const FULL_HEADER_BYTES = 12;

/**
 * Writes a message into one buffer, with a full header (type 0), so that it depends on no earlier message.
 * `chunkStreamId`: 2…63. `chunkBytes`: the chunk size that was announced last.
 */
export function writeMessage(message: RtmpMessage, chunkStreamId: number, chunkBytes: number): Buffer {
  const { type, timestamp, streamId, payload } = message;
  const isExtended = timestamp >= EXTENDED;
  const extendedBytes = isExtended ? 4 : 0;
  const continuations = Math.max(0, Math.ceil(payload.length / chunkBytes) - 1);
  const bytes = Buffer.allocUnsafe(
    FULL_HEADER_BYTES + extendedBytes + payload.length + continuations * (1 + extendedBytes),
  );
  bytes.writeUInt8(chunkStreamId, 0);
  bytes.writeUIntBE(isExtended ? EXTENDED : timestamp, 1, 3);
  bytes.writeUIntBE(payload.length, 4, 3);
  bytes.writeUInt8(type, 7);
  bytes.writeUInt32LE(streamId, 8);
  let at = FULL_HEADER_BYTES;
  if (isExtended) at = bytes.writeUInt32BE(timestamp, at);
  at += payload.copy(bytes, at, 0, chunkBytes);
  for (let from = chunkBytes; from < payload.length; from += chunkBytes) {
    at = bytes.writeUInt8(0xc0 | chunkStreamId, at);
    if (isExtended) at = bytes.writeUInt32BE(timestamp, at);
    at += payload.copy(bytes, at, from, from + chunkBytes);
  }
  return bytes;
}
