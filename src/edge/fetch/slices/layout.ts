/** Where the slices of an object lie, in its bytes and in the store. Pure. Edge rule 9 */
import { type ByteSpan, parseRange } from '#http/range.ts';

/** Edge rule 9: what vendors use; a first byte in the middle of a film costs no more than this at the origin. */
export const SLICE_BYTES = 1024 * 1024;

export function sliceAt(position: number): number {
  return Math.floor(position / SLICE_BYTES);
}

/** `totalBytes`: of the object, where it is known. */
export function sliceSpan(slice: number, totalBytes = Number.POSITIVE_INFINITY): ByteSpan {
  const first = slice * SLICE_BYTES;
  return { first, last: Math.min(first + SLICE_BYTES, totalBytes) - 1 };
}

/**
 * The slice to ask for while the length is not known: where the client's ranges begin, or the first one, which every other
 * request needs or at least tells the length by.
 */
export function firstSliceFor(range: string | undefined): number {
  const ranges = range === undefined ? undefined : parseRange(range);
  const firsts = (ranges ?? []).map((each) => (each.kind === 'from' ? each.first : 0));
  const first = Math.min(...firsts);
  return Number.isSafeInteger(first + SLICE_BYTES) ? sliceAt(first) : 0;
}

/** Key under which the head of the whole object is stored. No other key holds a line end. */
export function indexKey(key: string): string {
  return `${key}\nslices`;
}

export function sliceKey(key: string, slice: number, generation: string): string {
  return `${key}\nslice ${slice} ${generation}`;
}
