/** Combines partial responses of one representation. RFC 9111 §3.4 */
import { isStrong, isStrongMatch } from './entity-tag.ts';
import { FieldNames } from './field-names.ts';
import { type RawHeaders, withoutFields } from './headers.ts';
import { formatContentRange } from './range.ts';
import type { RequestHeaders } from './request-fields.ts';
import type { PartialRange, Stored } from './stored.ts';
import { unconditionalHeaders } from './validate.ts';

/** Returns the request fields that fetch the rest of a stored prefix. RFC 9110 §13.1.5 */
export function completionHeaders(
  headers: RequestHeaders,
  prefix: Stored & { readonly range: PartialRange },
): RawHeaders {
  const range = ['Range', `bytes=${prefix.range.last + 1}-`];
  // If-Range needs a strong tag. Without one, the origin's answer is checked and discarded if it does not fit.
  if (prefix.etag !== undefined && isStrong(prefix.etag)) range.push('If-Range', prefix.etag);
  return [...unconditionalHeaders(headers), ...range];
}

export interface Combination {
  /** Head and times of the newer part; a 200 without `range` if nothing is missing. */
  readonly stored: Stored;
  /** The body's bytes in order, as half-open ranges of the two bodies. */
  readonly pieces: readonly CombinationPiece[];
}

interface CombinationPiece {
  readonly from: 'older' | 'newer';
  readonly start: number;
  readonly end: number;
}

/**
 * Combines two stored parts; `undefined` if they belong to different representations or leave a gap. A newer complete
 * response needs no combining.
 */
export function combine(older: Stored, newer: Stored): Combination | undefined {
  if (older.range === undefined || newer.range === undefined) return undefined;
  if (older.etag === undefined || newer.etag === undefined || !isStrongMatch(older.etag, newer.etag)) return undefined;
  if (older.range.complete !== newer.range.complete) return undefined;
  const older0: Part = { from: 'older', range: older.range };
  const newer0: Part = { from: 'newer', range: newer.range };
  const [head, tail] = older.range.first <= newer.range.first ? [older0, newer0] : [newer0, older0];
  if (tail.range.first > head.range.last + 1) return undefined;
  const range = {
    first: head.range.first,
    last: Math.max(head.range.last, tail.range.last),
    complete: newer.range.complete,
  };
  return { stored: withRange(newer, range), pieces: piecesOf(head, tail) };
}

/** Turns a part that covers everything, as after `Range: bytes=0-`, into a complete response. RFC 9111 §3.4 */
export function asWhole(stored: Stored): Stored {
  const { range } = stored;
  return range !== undefined && range.last - range.first + 1 === range.complete ? withRange(stored, range) : stored;
}

interface Part {
  readonly from: 'older' | 'newer';
  readonly range: PartialRange;
}

function piecesOf(head: Part, tail: Part): readonly CombinationPiece[] {
  const headBytes = head.range.last - head.range.first + 1;
  const first: CombinationPiece = { from: head.from, start: 0, end: headBytes };
  if (tail.range.last <= head.range.last) return [first];
  const start = head.range.last + 1 - tail.range.first;
  return [first, { from: tail.from, start, end: tail.range.last - tail.range.first + 1 }];
}

function withRange(newer: Stored, range: PartialRange): Stored {
  const bytes = range.last - range.first + 1;
  const headers = [...withoutFields(newer.headers, RANGE_FIELDS), 'Content-Length', String(bytes)];
  // RFC 9111 §3.4: a complete representation is a 200
  if (bytes === range.complete) return { ...newer, status: 200, reason: 'OK', headers, range: undefined };
  const contentRange = formatContentRange(range, range.complete);
  return { ...newer, headers: [...headers, 'Content-Range', contentRange], range };
}

const RANGE_FIELDS = new FieldNames(['content-length', 'content-range']);
