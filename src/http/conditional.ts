/** Evaluates a client's conditions against a stored response. RFC 9111 §4.3.2, RFC 9110 §13 */
import { parseDate } from './dates.ts';
import { isStrongMatch, isWeakMatch, parseEntityTags } from './entity-tag.ts';
import { firstValue, trimOws } from './headers.ts';
import type { RequestFacts, Stored } from './stored.ts';

/** Whether the client's copy is current, so that the answer is 304. `now` resolves two-digit years. */
export function isNotModified(request: RequestFacts, stored: Stored, now: number): boolean {
  // RFC 9110 §13.2.1: conditions apply only to would-be successes
  if (stored.status !== 200 && stored.status !== 206) return false;
  // RFC 9110 §13.2.2: If-None-Match takes precedence over If-Modified-Since
  if (request.ifNoneMatch !== undefined) return matchesAny(request.ifNoneMatch, stored.etag);
  const since = parseDate(request.ifModifiedSince, now);
  if (since === undefined) return false; // RFC 9110 §13.1.3: an invalid date is ignored
  // RFC 9111 §4.3.2: without Last-Modified, Date or the time of receipt is used
  return (stored.lastModifiedAt ?? stored.dateAt) <= since;
}

/** Whether `If-Range` allows the Range to be applied; true without the field. RFC 9110 §13.1.5 */
export function doesIfRangeHold(request: RequestFacts, stored: Stored): boolean {
  if (request.ifRange === undefined) return true;
  const condition = trimOws(request.ifRange);
  if (condition.startsWith('"') || condition.startsWith('W/')) {
    return stored.etag !== undefined && isStrongMatch(condition, stored.etag);
  }
  // The text must match exactly, and the date must be a strong validator: RFC 9110 §8.8.2.2
  if (firstValue(stored.headers, 'last-modified') !== condition || stored.lastModifiedAt === undefined) return false;
  return stored.dateAt - stored.lastModifiedAt >= 1000;
}

function matchesAny(ifNoneMatch: string, etag: string | undefined): boolean {
  const tags = parseEntityTags(ifNoneMatch);
  if (tags === '*') return true;
  if (etag === undefined) return false;
  return tags.some((tag) => isWeakMatch(tag, etag)); // RFC 9110 §13.1.2
}
