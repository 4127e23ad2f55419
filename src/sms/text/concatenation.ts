/** How a part identifies its message, by a header before its text. 3GPP TS 23.040 §9.2.3.24 */
import type { Concatenation } from '../carrier.ts';

const IE_REFERENCE_8 = 0x00;
const IE_REFERENCE_16 = 0x08;

/** Returns the user data header, whose 6 octets leave room for 67 UTF-16 units in the 140 octets of a part. */
export function concatenationHeader({ reference, part, parts }: Concatenation): Buffer {
  return Buffer.of(5, IE_REFERENCE_8, 3, reference, parts, part);
}

export interface UserData {
  /** Octets after the header. */
  readonly octets: Buffer;
  readonly concatenation?: Concatenation;
}

/** Reads a user data header. If its length is wrong, all octets are text. */
export function readUserData(octets: Buffer): UserData {
  const headerEnd = 1 + (octets[0] ?? 0);
  if (octets.length === 0 || headerEnd > octets.length) return { octets };
  const concatenation = findConcatenation(octets.subarray(1, headerEnd));
  const text = octets.subarray(headerEnd);
  return concatenation === undefined ? { octets: text } : { octets: text, concatenation };
}

function findConcatenation(elements: Buffer): Concatenation | undefined {
  for (let at = 0; at + 2 <= elements.length; ) {
    const id = elements[at];
    const end = at + 2 + (elements[at + 1] ?? 0);
    if (end > elements.length) return undefined;
    const value = elements.subarray(at + 2, end);
    if (id === IE_REFERENCE_8 && value.length === 3) return checkedPart(value[0], value[2], value[1]);
    if (id === IE_REFERENCE_16 && value.length === 4) return checkedPart(value.readUInt16BE(0), value[3], value[2]);
    at = end;
  }
  return undefined;
}

/** Rejects impossible part numbers, such as 5 of 4: phones do not reassemble them. */
export function checkedPart(reference?: number, part?: number, parts?: number): Concatenation | undefined {
  if (reference === undefined || part === undefined || parts === undefined) return undefined;
  return part >= 1 && part <= parts && parts > 1 ? { reference, part, parts } : undefined;
}
