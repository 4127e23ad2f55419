/** Integers with an N-bit prefix. RFC 7541 §5.1. Pure. */

/** A reading position; `end` is exclusive. */
export interface Cursor {
  bytes: Buffer;
  at: number;
  end: number;
}

/** Bytes after the first; no valid number here needs more. */
const MAX_MORE_BYTES = 4;

/** Reads an integer and advances the cursor. Returns -1 if it is incomplete or too large. */
export function readPrefixInteger(cursor: Cursor, prefixBits: number): number {
  const { bytes, end } = cursor;
  if (cursor.at >= end) return -1;
  const most = (1 << prefixBits) - 1;
  let value = (bytes[cursor.at++] ?? 0) & most;
  if (value < most) return value;
  for (let more = 0; more < MAX_MORE_BYTES && cursor.at < end; more++) {
    const byte = bytes[cursor.at++] ?? 0;
    value += (byte & 0x7f) << (7 * more);
    if (byte < 0x80) return value;
  }
  return -1;
}

/** Writes an integer and returns the offset after it. `first`: the bits before the prefix in the first byte. */
export function writeInteger(bytes: Buffer, at: number, value: number, prefixBits: number, first: number): number {
  const most = (1 << prefixBits) - 1;
  if (value < most) {
    bytes[at] = first | value;
    return at + 1;
  }
  bytes[at] = first | most;
  let left = value - most;
  let next = at + 1;
  for (; left >= 0x80; left >>>= 7) bytes[next++] = (left & 0x7f) | 0x80;
  bytes[next++] = left;
  return next;
}
