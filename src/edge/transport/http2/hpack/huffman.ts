/** The Huffman code of HPACK, decoded four bits at a time by a table. RFC 7541 §5.2, appendix B. Pure. */

/**
 * Code length in bits of each byte, and of the end-of-string symbol at the end, which no text contains. The code is
 * canonical: among codes of equal length, the smaller byte has the smaller code, and each code is its predecessor plus
 * one.
 */
export const CODE_BITS: readonly number[] = [
  ...[13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28],
  ...[28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28],
  ...[6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6],
  ...[5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10],
  ...[13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7],
  ...[7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6],
  ...[15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5],
  ...[6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28],
  ...[20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23],
  ...[24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24],
  ...[22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23],
  ...[21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23],
  ...[26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25],
  ...[19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27],
  ...[20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23],
  ...[26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26],
  30,
];

const END_OF_STRING = 256;

/** Returns the code of each symbol. */
export function huffmanCodes(): readonly number[] {
  const codes: number[] = [];
  const symbols = CODE_BITS.map((bits, symbol) => ({ bits, symbol })).sort((a, b) => a.bits - b.bits);
  let code = 0;
  let before = 0;
  for (const { bits, symbol } of symbols) {
    code *= 2 ** (bits - before);
    before = bits;
    codes[symbol] = code++;
  }
  return codes;
}

/** Largest decoded size of a coded text: the shortest code has five bits. */
export function maxDecodedBytes(codedBytes: number): number {
  return Math.ceil((codedBytes * 8) / 5);
}

/** Decodes into `into`. Returns the number of bytes written; -1 if the code is malformed. RFC 7541 §5.2 */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number, into: Uint8Array): number {
  let state = 0;
  let made = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    for (const half of [byte >>> 4, byte & 15]) {
      const step = STEPS[state * 16 + half] ?? IS_FAULT;
      if ((step & IS_FAULT) !== 0) return -1;
      if ((step & MAKES) !== 0) into[made++] = step >>> 8;
      state = step & 0xff;
    }
  }
  return MAY_END[state] === 1 ? made : -1;
}

// A step: bits 0 to 7 are the next state, bits 8 to 15 the decoded byte, if any, and the flags below.
const MAKES = 1 << 16;
const IS_FAULT = 1 << 17;

const { steps: STEPS, mayEnd: MAY_END } = makeSteps();

/** A node of the code tree. */
interface Place {
  readonly state: number;
  readonly next: (Place | number | undefined)[];
  /** The bits read since the last symbol are a prefix of the end-of-string code, shorter than a byte: padding. */
  readonly isPadding: boolean;
}

function makeSteps(): { readonly steps: Uint32Array; readonly mayEnd: Uint8Array } {
  const places = makePlaces();
  const steps = new Uint32Array(places.length * 16);
  for (const place of places)
    for (let half = 0; half < 16; half++) steps[place.state * 16 + half] = walk(places, place, half);
  return { steps, mayEnd: Uint8Array.from(places, ({ isPadding }) => (isPadding ? 1 : 0)) };
}

function walk(places: readonly Place[], from: Place, half: number): number {
  let place: Place | undefined = from;
  let made = 0;
  for (let bit = 3; bit >= 0; bit--) {
    const next: Place | number | undefined = place?.next[(half >>> bit) & 1];
    if (next === END_OF_STRING || next === undefined) return IS_FAULT;
    if (typeof next === 'number') made = MAKES | (next << 8);
    place = typeof next === 'number' ? places[0] : next;
  }
  return made | (place?.state ?? 0);
}

function makePlaces(): readonly Place[] {
  const root: Place = { state: 0, next: [], isPadding: true };
  const places = [root];
  for (const [symbol, code] of huffmanCodes().entries()) {
    const bits = CODE_BITS[symbol] ?? 0;
    let place = root;
    for (let bit = bits - 1; bit > 0; bit--) {
      const way = (code >>> bit) & 1;
      let next = place.next[way];
      if (typeof next !== 'object') {
        const depth = bits - bit;
        next = { state: places.length, next: [], isPadding: place.isPadding && way === 1 && depth < 8 };
        places.push(next);
        place.next[way] = next;
      }
      place = next;
    }
    place.next[code & 1] = symbol;
  }
  return places;
}
