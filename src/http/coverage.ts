/** Checks whether a stored response has the bytes that a request needs. RFC 9111 §3.3, §4 */
import { doesIfRangeHold } from './conditional.ts';
import { type ByteSpan, parseRange, resolveRange } from './range.ts';
import type { RequestFacts, Stored } from './stored.ts';

/**
 * A complete representation covers every request; a part covers only single ranges inside it, and no request without
 * Range.
 */
export function coversRequest(request: RequestFacts, stored: Stored): boolean {
  if (stored.range === undefined) return true;
  if (request.range === undefined) return false; // RFC 9111 §3.3
  const ranges = parseRange(request.range);
  const [range] = ranges ?? [];
  // A failed If-Range requests the whole representation.
  if (range === undefined || ranges?.length !== 1 || !doesIfRangeHold(request, stored)) return false;
  const span = resolveRange(range, stored.range.complete);
  // The complete length suffices to answer that a range is unsatisfiable.
  return span === undefined || isInside(span, stored.range);
}

/** Whether the stored part begins the representation, so that only the rest is missing. */
export function isPrefix(stored: Stored): boolean {
  return stored.range?.first === 0;
}

function isInside(span: ByteSpan, range: ByteSpan): boolean {
  return span.first >= range.first && span.last <= range.last;
}
