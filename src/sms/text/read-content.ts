/** Reads texts of phones by CMPP, SMGP and SGIP, whose numbers of alphabets are alike. Pure. docs/decisions/0757 */
import type { Concatenation } from '../carrier.ts';
import { decodeAscii, decodeStrictly, decodeUtf16, withoutFinalZeros } from './alphabets.ts';
import { readUserData } from './concatenation.ts';

export interface PhoneContent {
  /** Decoded text, or `hex:` and the octets' digits if they are not text. */
  readonly text: string;
  readonly isText: boolean;
  /** Content without a user data header. */
  readonly octets: Buffer;
  readonly concatenation?: Concatenation;
}

/** `udhi`: value of TP_udhi. The documents say 1; most gateways write 64, the bit of the phone networks. */
export function readPhoneContent(coding: number, udhi: number, content: Buffer): PhoneContent {
  const { octets, concatenation } = (udhi & HAS_HEADER) === 0 ? { octets: content } : readUserData(content);
  const text = UTF_16.includes(coding)
    ? decodeUtf16(octets).replace(/\0+$/, '')
    : readChinese(coding, withoutFinalZeros(octets));
  const read = text === undefined ? { text: `hex:${octets.toString('hex')}`, isText: false } : { text, isText: true };
  return { ...read, octets, ...(concatenation !== undefined && { concatenation }) };
}

const HAS_HEADER = 0x41;
/** 8 by the documents; 9, 24 and 25 from gateways that have it from elsewhere. */
const UTF_16: readonly number[] = [8, 9, 24, 25];
/** Data for the SIM card. */
const SIM = 246;
const GB18030 = 15;

/** Gateways label texts wrongly; what is well-formed is read, and `undefined` is no text. */
function readChinese(coding: number, octets: Buffer): string | undefined {
  if (coding === SIM) return undefined;
  return (coding === GB18030 ? undefined : decodeAscii(octets)) ?? decodeStrictly('gb18030', octets);
}
