/** Sets how long browsers keep an answer: `Cache-Control`, `Expires` and the validity of preflights. Pure. */
import { parseCacheControl } from '#http/cache-control.ts';
import { formatDate } from '#http/dates.ts';
import { FieldNames } from '#http/field-names.ts';
import { allValues, hasField, listMembers, type RawHeaders, withField, withoutFields } from '#http/headers.ts';
import type { RequestHeaders } from '#http/request-fields.ts';
import type { Site } from '#sites/site.ts';
import type { EdgeRequest } from '../request.ts';

export type BrowserCache = Pick<Site, 'expiresSeconds' | 'accessControlMaxAgeSeconds'>;

/**
 * Sets the fields of an origin's answer; the edge's own pages have no such setting. Returns the same list if nothing is
 * set. Edge rule 5
 */
export function browserHeaders(
  { expiresSeconds, accessControlMaxAgeSeconds }: BrowserCache,
  request: Pick<EdgeRequest, 'method' | 'headers'>,
  { status, headers }: { readonly status: number; readonly headers: RawHeaders },
  now: number,
): RawHeaders {
  if (request.method === 'OPTIONS') {
    if (accessControlMaxAgeSeconds === 0 || status < 200 || status > 299 || !isPreflight(request.headers))
      return headers;
    return withField(headers, 'Access-Control-Max-Age', String(accessControlMaxAgeSeconds));
  }
  if (expiresSeconds === 0 || !KEPT_STATUSES.has(status) || !READS.has(request.method)) return headers;
  const directives = parseCacheControl(allValues(headers, 'cache-control'));
  const isForbidden = directives.noStore || directives.noCache || directives.isPrivate;
  // `no-cache` and `private` may name single fields; these would no longer be distinguished.
  const isForbiddenInPart = directives.noCacheFields.length > 0 || directives.privateFields.length > 0;
  const hasOldForm = listMembers(allValues(headers, 'pragma')).includes('no-cache'); // RFC 9111 §5.4
  if (isForbidden || isForbiddenInPart || hasOldForm) return headers;
  // RFC 9111 §5.2.2.6 applies to every cache on the way
  const rest = directives.noTransform ? ', no-transform' : '';
  return [
    ...withoutFields(headers, REPLACED),
    'Cache-Control',
    `max-age=${expiresSeconds}${rest}`,
    'Expires',
    formatDate(now + expiresSeconds * 1000),
  ];
}

const KEPT_STATUSES: ReadonlySet<number> = new Set([200, 206, 301, 304]);
/** A browser may keep a POST's answer for later GETs. RFC 9110 §9.3.3 */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
/** Fields that are replaced. With `Age`, the browser would count the time in this cache, too. */
const REPLACED = new FieldNames(['cache-control', 'expires', 'age']);

/** Fetch standard, §4.8 */
function isPreflight(headers: RequestHeaders): boolean {
  return hasField(headers, 'origin') && hasField(headers, 'access-control-request-method');
}
