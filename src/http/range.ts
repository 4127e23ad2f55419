/** Parses and formats `Range` and `Content-Range` for bytes. RFC 9110 §14 */
import { trimOws } from './headers.ts';
import type { PartialRange } from './stored.ts';

/** A member of a Range header: inclusive positions (`last` absent: to the end), or the last `length` bytes. */
export type ByteRange =
  | { readonly kind: 'from'; readonly first: number; readonly last: number | undefined }
  | { readonly kind: 'suffix'; readonly length: number };

/** Inclusive positions within a representation. */
export interface ByteSpan {
  readonly first: number;
  readonly last: number;
}

/** A header with more members is considered an attack and ignored. RFC 9110 §14.2 */
export const MAX_RANGES = 8;

/** Parses the members in order; `undefined` if the header must be ignored (other unit, malformed, too many). */
export function parseRange(text: string): readonly ByteRange[] | undefined {
  const match = /^bytes=(.*)$/i.exec(text);
  if (match === null) return undefined;
  const ranges: ByteRange[] = [];
  for (const part of (match[1] ?? '').split(',')) {
    const member = trimOws(part);
    if (member === '') continue;
    const range = parseMember(member);
    if (range === undefined || ranges.length === MAX_RANGES) return undefined;
    ranges.push(range);
  }
  return ranges.length === 0 ? undefined : ranges;
}

/** Resolves a range in a representation of `complete` bytes; `undefined` if it is unsatisfiable. RFC 9110 §14.1.2 */
export function resolveRange(range: ByteRange, complete: number): ByteSpan | undefined {
  if (range.kind === 'suffix') {
    if (range.length === 0 || complete === 0) return undefined;
    return { first: Math.max(0, complete - range.length), last: complete - 1 };
  }
  if (range.first >= complete) return undefined;
  return { first: range.first, last: Math.min(range.last ?? complete - 1, complete - 1) };
}

/** Parses the field of a single-part 206 with a known complete length; otherwise returns `undefined`. RFC 9110 §14.4 */
export function parseContentRange(text: string): PartialRange | undefined {
  const match = /^bytes (\d+)-(\d+)\/(\d+)$/i.exec(text);
  if (match === null) return undefined;
  const [first, last, complete] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (!Number.isSafeInteger(complete) || last < first || last >= complete) return undefined;
  return { first, last, complete };
}

export function formatContentRange({ first, last }: ByteSpan, complete: number): string {
  return `bytes ${first}-${last}/${complete}`;
}

/** Formats the `Content-Range` of a 416. */
export function formatUnsatisfiedRange(complete: number): string {
  return `bytes */${complete}`;
}

export function spanBytes({ first, last }: ByteSpan): number {
  return last - first + 1;
}

function parseMember(member: string): ByteRange | undefined {
  const match = /^(\d*)-(\d*)$/.exec(member);
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '') return last === '' ? undefined : { kind: 'suffix', length: Number(last) };
  if (last === '') return { kind: 'from', first: Number(first), last: undefined };
  // RFC 9110 §14.1.1: last before first makes the set invalid
  if (Number(last) < Number(first)) return undefined;
  return { kind: 'from', first: Number(first), last: Number(last) };
}
