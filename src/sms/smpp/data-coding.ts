/** Encodes and decodes texts by data_coding, which names their alphabet. */
import { decodeAscii, decodeLatin1, decodeStrictly, decodeUtf16, withoutFinalZeros } from '../text/alphabets.ts';
import { decodeGsm7, encodeGsm7 } from './gsm7.ts';

interface CodedText {
  readonly dataCoding: number;
  readonly octets: Buffer;
}

const GSM7 = 0;
const UCS2 = 8;

/** Encodes a text in UCS-2, or in GSM's alphabet if that is wanted and has every character. */
export function encodeText(text: string, isGsm7Wanted: boolean): CodedText {
  const septets = isGsm7Wanted ? encodeGsm7(text) : undefined;
  return septets === undefined
    ? { dataCoding: UCS2, octets: Buffer.from(text, 'utf16le').swap16() }
    : { dataCoding: GSM7, octets: septets };
}

export interface Content {
  /** Decoded text, or `hex:` and the octets' digits if they are not text. */
  readonly text: string;
  readonly isText: boolean;
}

/** Decodes the content of a message; final NULs are dropped. docs/decisions/0421 */
export function readContent(dataCoding: number, octets: Buffer): Content {
  const alphabet = alphabetOf(dataCoding);
  const text = READERS[alphabet](octets, withoutFinalZeros(octets));
  return text === undefined ? { text: `hex:${octets.toString('hex')}`, isText: false } : { text, isText: true };
}

type Alphabet = 'default' | 'ia5' | 'latin1' | 'ucs2' | 'gb18030' | 'octets' | 'sim' | OtherAlphabet;
type OtherAlphabet = 'cyrillic' | 'hebrew' | 'korean' | 'shiftJis' | 'iso2022Jp' | 'eucJp';

/** `plain`: without NULs at the end. */
const READERS: Readonly<Record<Alphabet, (octets: Buffer, plain: Buffer) => string | undefined>> = {
  // The carrier's default, GSM's by the standard. Other octets are GB18030 in China, and elsewhere Latin-1.
  default: (_, plain) => (isSevenBits(plain) ? decodeGsm7(plain) : readChinese(plain)),
  ia5: (_, plain) => (isSevenBits(plain) ? plain.toString('latin1') : readChinese(plain)),
  latin1: (_, plain) => plain.toString('latin1'),
  ucs2: (octets) => decodeUtf16(octets).replace(/\0+$/, ''),
  gb18030: (_, plain) => decodeStrictly('gb18030', plain),
  octets: (_, plain) => decodeAscii(plain) ?? decodeStrictly('gb18030', plain),
  // Data for the SIM card.
  sim: () => undefined,
  cyrillic: otherReader('iso-8859-5'),
  hebrew: otherReader('iso-8859-8'),
  korean: otherReader('euc-kr'),
  shiftJis: otherReader('shift_jis'),
  iso2022Jp: otherReader('iso-2022-jp'),
  eucJp: otherReader('euc-jp'),
};

function otherReader(label: string) {
  return (_: Buffer, plain: Buffer) => decodeStrictly(label, plain) ?? decodeStrictly('gb18030', plain);
}

function readChinese(octets: Buffer): string | undefined {
  return decodeStrictly('gb18030', octets) ?? decodeLatin1(octets);
}

function isSevenBits(octets: Buffer): boolean {
  return octets.every((octet) => octet < 0x80);
}

/** Returns the alphabet: by SMPP 3.4 §5.2.19 below 16, above by the bits of GSM, 3GPP TS 23.038 §4. */
function alphabetOf(dataCoding: number): Alphabet {
  if (dataCoding < 0x10) return SMPP_ALPHABETS[dataCoding] ?? 'octets';
  if (dataCoding < 0x40) return GSM_ALPHABETS[(dataCoding >> 2) & 3] ?? 'octets';
  if (dataCoding === 0xf6) return 'sim';
  if (dataCoding >= 0xf0) return (dataCoding & 4) === 0 ? 'default' : 'octets';
  if (dataCoding >= 0xe0) return 'ucs2';
  return dataCoding >= 0xc0 ? 'default' : 'octets';
}

/** Alphabets in practice: 9 is UTF-16 (by the standard a pictogram), 15 is GBK or GB18030 in China (reserved). */
const SMPP_ALPHABETS: Readonly<Record<number, Alphabet>> = {
  0: 'default',
  1: 'ia5',
  3: 'latin1',
  5: 'shiftJis',
  6: 'cyrillic',
  7: 'hebrew',
  8: 'ucs2',
  9: 'ucs2',
  10: 'iso2022Jp',
  13: 'eucJp',
  14: 'korean',
  15: 'gb18030',
};
const GSM_ALPHABETS: readonly Alphabet[] = ['default', 'octets', 'ucs2', 'octets'];
