/** Reads and writes DER, the encoding of certificates and of requests for them. ITU-T X.690 */

/** Tags of ASN.1 types. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

const MAX_LENGTH_BYTES = 4;

export interface Element {
  readonly tag: number;
  readonly content: Buffer;
  /** The whole element: tag, length and content. */
  readonly raw: Buffer;
}

/** `content`: shorter than 64 KiB. */
export function derValue(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  const bytes = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...bytes), content]);
}

export function derSequence(...parts: readonly Buffer[]): Buffer {
  return derValue(TAG.sequence, Buffer.concat(parts));
}

/** `id`: dotted decimal, such as `2.5.29.17`. */
export function derObjectId(id: string): Buffer {
  const [first = 0, second = 0, ...rest] = id.split('.').map(Number);
  return derValue(TAG.objectId, Buffer.from([first * 40 + second, ...rest].flatMap(baseOf128)));
}

/** `bytes`: an unsigned number, the most significant byte first. */
export function derInteger(bytes: Uint8Array): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const shortest = start === -1 ? Buffer.of(0) : Buffer.from(bytes.subarray(start));
  // A first bit that is set would make it negative. X.690 §8.3
  return derValue(TAG.integer, (shortest[0] ?? 0) < 0x80 ? shortest : Buffer.concat([Buffer.of(0), shortest]));
}

/** A bit string of whole bytes. */
export function derBits(bytes: Uint8Array): Buffer {
  return derValue(TAG.bitString, Buffer.concat([Buffer.of(0), bytes]));
}

/**
 * Returns the elements of which `bytes` consists. Lenient: a length that exceeds `bytes` is cut to it, so use it for what
 * OpenSSL has parsed, or compare `raw`. Tags of one byte, as certificates have them.
 */
export function readElements(bytes: Buffer = Buffer.alloc(0)): readonly Element[] {
  const elements: Element[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    const first = bytes.readUInt8(at + 1);
    const lengthBytes = first < 0x80 ? 0 : Math.min(first & 0x7f, MAX_LENGTH_BYTES);
    const start = at + 2 + lengthBytes;
    const size = lengthBytes === 0 ? first : parseInt(bytes.toString('hex', at + 2, start), 16);
    const end = Math.min(start + size, bytes.length);
    const content = bytes.subarray(Math.min(start, end), end);
    elements.push({ tag: bytes.readUInt8(at), content, raw: bytes.subarray(at, end) });
    if (!(end > at)) break; // the length itself is cut
    at = end;
  }
  return elements;
}

function baseOf128(arc: number): readonly number[] {
  const digits = [arc & 0x7f];
  for (let rest = arc >>> 7; rest > 0; rest >>>= 7) digits.unshift(0x80 | (rest & 0x7f));
  return digits;
}
