/** data_coding: which alphabet the octets of a message are in. */
import { decodeGsm7, encodeGsm7 } from './gsm7.ts';

interface CodedText {
  readonly dataCoding: number;
  readonly octets: Buffer;
}

const GSM7 = 0;
const UCS2 = 8;

/** UCS-2, or GSM's alphabet when that is wanted and has every character. */
export function encodeText(text: string, isGsm7Wanted: boolean): CodedText {
  const septets = isGsm7Wanted ? encodeGsm7(text) : undefined;
  return septets === undefined
    ? { dataCoding: UCS2, octets: Buffer.from(text, 'utf16le').swap16() }
    : { dataCoding: GSM7, octets: septets };
}

/** `undefined`: it is no text, or in an alphabet that is not ours to read. */
export function decodeText(dataCoding: number, octets: Buffer): string | undefined {
  switch (alphabetOf(dataCoding)) {
    case 'gsm7':
      return decodeGsm7(octets);
    case 'latin1':
      return octets.toString('latin1');
    case 'ucs2':
      return decodeUcs2(octets);
    default:
      return undefined;
  }
}

/** An odd last octet is none. Half of a surrogate pair, which other senders leave behind, becomes U+FFFD. */
function decodeUcs2(octets: Buffer): string {
  return Buffer.from(octets.subarray(0, octets.length & ~1))
    .swap16()
    .toString('utf16le')
    .toWellFormed();
}

type Alphabet = 'gsm7' | 'latin1' | 'ucs2' | 'other';

/** SMPP 3.4 §5.2.19 names values below 16; above, the bits are those of GSM, 3GPP TS 23.038 §4. */
function alphabetOf(dataCoding: number): Alphabet {
  if (dataCoding < 0x10) return SMPP_ALPHABETS[dataCoding] ?? 'other';
  if (dataCoding < 0x40) return GSM_ALPHABETS[(dataCoding >> 2) & 3] ?? 'other';
  if (dataCoding >= 0xf0) return (dataCoding & 4) === 0 ? 'gsm7' : 'other';
  if (dataCoding >= 0xe0) return 'ucs2';
  return dataCoding >= 0xc0 ? 'gsm7' : 'other';
}

const SMPP_ALPHABETS: Readonly<Record<number, Alphabet>> = { 0: 'gsm7', 1: 'latin1', 3: 'latin1', 8: 'ucs2' };
const GSM_ALPHABETS: readonly Alphabet[] = ['gsm7', 'other', 'ucs2', 'other'];
