/**
 * Numbers and texts of a list in one text each. An edge keeps the lists of thousands of sites: its collector looks into every
 * object of the heap each time, but into no text, and what a request looks at lies side by side. docs/decisions/0117
 */

/** A character each: 0 to 65,535. Read by `charCodeAt`. */
export function packUnits(units: Iterable<number>): string {
  // Made of bytes in one go: what is put together by + stays in pieces. All machines that Node knows keep the low byte first.
  return Buffer.from(Uint16Array.from(units).buffer).toString('utf16le');
}

/** Two characters each: 0 to 2^32-1. */
export function packNumbers(numbers: readonly number[]): string {
  return packUnits(numbers.flatMap((number) => [number >>> 16, number & 0xffff]));
}

export function numberAt(packed: string, index: number): number {
  return packed.charCodeAt(index * 2) * 65_536 + packed.charCodeAt(index * 2 + 1);
}

export interface PackedTexts {
  /** One behind the other. */
  readonly all: string;
  /** Where each ends, packed. */
  readonly ends: string;
}

export function packTexts(texts: readonly string[]): PackedTexts {
  let end = 0;
  return { all: texts.join(''), ends: packNumbers(texts.map(({ length }) => (end += length))) };
}

export function textAt({ all, ends }: PackedTexts, index: number): string {
  return all.slice(index === 0 ? 0 : numberAt(ends, index - 1), numberAt(ends, index));
}
