/** Positions of slices in an object, and their keys in the store. Pure. Edge rule 9 */
import { type ByteSpan, parseRange } from '#http/range.ts';

/**
 * Size of a slice, as other CDNs use it: a request for a byte in the middle of a film costs the origin no more than
 * this. Edge rule 9
 */
export const SLICE_BYTES = 1024 * 1024;

export function sliceAt(position: number): number {
  return Math.floor(position / SLICE_BYTES);
}

/** Returns a slice's byte span. `totalBytes` is the object's size; without it the span is that of a full slice. */
export function sliceSpan(slice: number, totalBytes = Number.POSITIVE_INFINITY): ByteSpan {
  const first = slice * SLICE_BYTES;
  return { first, last: Math.min(first + SLICE_BYTES, totalBytes) - 1 };
}

/**
 * Returns the slice to ask for while the length is unknown: the earliest one that the client's ranges need. It is the
 * first slice if there is no range or a range counts from the end, as its response shows the length.
 */
export function firstSliceFor(range: string | undefined): number {
  const ranges = range === undefined ? undefined : parseRange(range);
  const firsts = (ranges ?? []).map((each) => (each.kind === 'from' ? each.first : 0));
  const first = Math.min(...firsts);
  return Number.isSafeInteger(first + SLICE_BYTES) ? sliceAt(first) : 0;
}

/** Key of the head of the whole object. No other key contains a line feed, except those of slices. */
export function indexKey(key: string): string {
  return `${key}\nslices`;
}

export function sliceKey(key: string, slice: number, generation: string): string {
  return `${key}\nslice ${slice} ${generation}`;
}
