/** DER (X.690) as far as a certificate is read: values with their tags, in their order. Pure. */

export interface DerValue {
  readonly tag: number;
  readonly bytes: Uint8Array;
}

/** Reads the values that follow each other. Throws `RangeError` if one is longer than what is there. */
export function readDer(bytes: Uint8Array): readonly DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0;
    const { length, start } = readLength(bytes, at + 1);
    if (start + length > bytes.length) throw new RangeError('a value of DER is cut');
    values.push({ tag, bytes: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return values;
}

/** No value of a certificate needs more than four bytes of length. */
const MAX_LENGTH_BYTES = 4;

function readLength(bytes: Uint8Array, at: number): { readonly length: number; readonly start: number } {
  const first = bytes[at] ?? Number.NaN;
  if (first < 0x80) return { length: first, start: at + 1 };
  const count = first & 0x7f;
  const more = bytes.subarray(at + 1, at + 1 + count);
  if (Number.isNaN(first) || count === 0 || count > MAX_LENGTH_BYTES || more.length < count)
    throw new RangeError('a length of DER is invalid');
  return { length: more.reduce((sum, byte) => sum * 256 + byte, 0), start: at + 1 + count };
}
