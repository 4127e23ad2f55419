/** Byte tables for heads of HTTP/1.1, and helpers to skip blanks. RFC 9110 §5. Pure. */

const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SP = 0x20;
export const COLON = 0x3a;

/** Returns a table with a 1 for each byte that, as one latin1 character, matches the pattern. */
export function byteTable(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (pattern.test(String.fromCharCode(byte)) ? 1 : 0));
}

/** Bytes of a token. RFC 9110 §5.6.2 */
export const TOKEN_BYTES = byteTable(/[!#$%&'*+.^_`|~0-9A-Za-z-]/);

/** Bytes of a field value and of a reason phrase, blanks included. RFC 9110 §5.5, RFC 9112 §4 */
export const VALUE_BYTES = byteTable(/[\t\x20-\x7e\x80-\xff]/);

/** Returns the offset of the first byte at or after `from` that is not a blank, or `to`. */
export function skipBlanks(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && (bytes[at] === SP || bytes[at] === TAB)) at++;
  return at;
}

/** Returns the offset after the last byte before `to` that is not a blank, or `from`. */
export function trimBlanks(bytes: Uint8Array, from: number, to: number): number {
  let at = to;
  while (at > from && (bytes[at - 1] === SP || bytes[at - 1] === TAB)) at--;
  return at;
}
