/**
 * Packs a list of numbers or texts in one string. An edge keeps the lists of thousands of sites: the collector visits
 * every object of the heap, but not the content of strings, and data that a request reads lies together.
 * docs/decisions/0117
 */

/** Packs numbers from 0 to 65,535, one UTF-16 unit each, to be read with `charCodeAt`. */
export function packUnits(units: Iterable<number>): string {
  // Built from bytes at once, since concatenation would create a rope. All machines that Node supports are
  // little-endian.
  return Buffer.from(Uint16Array.from(units).buffer).toString('utf16le');
}

/** Packs numbers from 0 to 2^32-1, two units each, to be read with `numberAt`. */
export function packNumbers(numbers: readonly number[]): string {
  return packUnits(numbers.flatMap((number) => [number >>> 16, number & 0xffff]));
}

export function numberAt(packed: string, index: number): number {
  return packed.charCodeAt(index * 2) * 65_536 + packed.charCodeAt(index * 2 + 1);
}

export interface PackedTexts {
  /** The texts, concatenated. */
  readonly all: string;
  /** End offset of each text, packed. */
  readonly ends: string;
}

export function packTexts(texts: readonly string[]): PackedTexts {
  let end = 0;
  return { all: texts.join(''), ends: packNumbers(texts.map(({ length }) => (end += length))) };
}

export function textAt({ all, ends }: PackedTexts, index: number): string {
  return all.slice(index === 0 ? 0 : numberAt(ends, index - 1), numberAt(ends, index));
}
