/** The default alphabet of GSM, 3GPP TS 23.038 §6.2.1, one septet in an octet as SMPP carries it. */

const ESCAPE = 0x1b;

/** Characters by code; the escape stands for itself. */
const BASIC = [
  '@£$¥èéùìòÇ\nØø\rÅå',
  'Δ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ',
  ' !"#¤%&\'()*+,-./',
  '0123456789:;<=>?',
  '¡ABCDEFGHIJKLMNO',
  'PQRSTUVWXYZÄÖÑÜ§',
  '¿abcdefghijklmno',
  'pqrstuvwxyzäöñüà',
].join('');

/** Characters by code after an escape. */
const EXTENSION: Readonly<Record<number, string>> = {
  10: '\f',
  20: '^',
  40: '{',
  41: '}',
  47: '\\',
  60: '[',
  61: '~',
  62: ']',
  64: '|',
  101: '€',
};

const CODES: ReadonlyMap<string, readonly number[]> = new Map([
  ...[...BASIC].map((letter, code): [string, number[]] => [letter, [code]]).filter(([, [code]]) => code !== ESCAPE),
  ...Object.entries(EXTENSION).map(([code, letter]): [string, number[]] => [letter, [ESCAPE, Number(code)]]),
]);

/** Returns `undefined` if the alphabet lacks one of the characters. */
export function encodeGsm7(text: string): Buffer | undefined {
  const septets: number[] = [];
  for (const letter of text) {
    const codes = CODES.get(letter);
    if (codes === undefined) return undefined;
    septets.push(...codes);
  }
  return Buffer.from(septets);
}

/** Decodes septets. An escape before a code that the extension lacks is a blank, as the standard says. */
export function decodeGsm7(septets: Buffer): string {
  let text = '';
  for (let at = 0; at < septets.length; at += 1) {
    const code = septets[at] ?? 0;
    const extended = code === ESCAPE ? EXTENSION[septets[at + 1] ?? -1] : undefined;
    if (extended !== undefined) at += 1;
    text += extended ?? (code === ESCAPE ? ' ' : (BASIC[code] ?? '\ufffd'));
  }
  return text;
}
