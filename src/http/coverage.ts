/** Which requests a stored response has the bytes for. RFC 9111 §3.3, §4 */
import { doesIfRangeHold } from './conditional.ts';
import { type ByteSpan, parseRange, resolveRange } from './range.ts';
import type { RequestFacts, Stored } from './stored.ts';

/** A whole representation covers everything; a part only single ranges inside it, and never a request without Range. */
export function coversRequest(request: RequestFacts, stored: Stored): boolean {
  if (stored.range === undefined) return true;
  if (request.range === undefined) return false; // RFC 9111 §3.3
  const ranges = parseRange(request.range);
  const [range] = ranges ?? [];
  // A failed If-Range asks for the whole representation.
  if (range === undefined || ranges?.length !== 1 || !doesIfRangeHold(request, stored)) return false;
  const span = resolveRange(range, stored.range.complete);
  // Unsatisfiable is an answer that the complete length alone gives.
  return span === undefined || isInside(span, stored.range);
}

/** A part that begins the representation, so that only its rest is missing. */
export function isPrefix(stored: Stored): boolean {
  return stored.range?.first === 0;
}

function isInside(span: ByteSpan, range: ByteSpan): boolean {
  return span.first >= range.first && span.last <= range.last;
}
