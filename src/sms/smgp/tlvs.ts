/** The optional parameters that follow the fields of a submit or deliver. Unknown ones are passed over. Pure. */

export const SMGP_TAGS = { tpUdhi: 2, pkTotal: 9, pkNumber: 10, msgSrc: 16 } as const;

const SMGP_HEADER_OCTETS = 4;
const MSG_SRC_OCTETS = 8;

/** Returns the value of a parameter of one octet; 0 if there is none, or it is cut. The last one of its tag counts. */
export function numberOf(octets: Buffer, tag: number): number {
  let value = 0;
  for (let at = 0; octets.length - at > SMGP_HEADER_OCTETS; ) {
    const begin = at + SMGP_HEADER_OCTETS;
    const end = begin + octets.readUInt16BE(at + 2);
    if (octets.readUInt16BE(at) === tag && begin < end && end <= octets.length) value = octets.readUInt8(begin);
    at = end;
  }
  return value;
}

export function smgpNumberTlv(tag: number, value: number): Buffer {
  return Buffer.of(0, tag, 0, 1, value);
}

/** The enterprise's code, filled with NULs. */
export function msgSrcTlv(code: string): Buffer {
  const octets = Buffer.alloc(SMGP_HEADER_OCTETS + MSG_SRC_OCTETS);
  octets.set([0, SMGP_TAGS.msgSrc, 0, MSG_SRC_OCTETS]);
  octets.write(code, SMGP_HEADER_OCTETS, MSG_SRC_OCTETS, 'latin1');
  return octets;
}
