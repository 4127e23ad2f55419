/** Which requests make stored responses of a URI, and of which others, worthless. RFC 9111 §4.4 */
import { allValues, type RawHeaders } from './headers.ts';
import { type KeyTarget, splitTarget } from './target.ts';
import { isSameOrigin, originForm, resolveReference } from './uri.ts';

/** Every method that is not known to be safe, when the origin did what it asks for; errors invalidate nothing. */
export function doesInvalidate(method: string, status: number): boolean {
  return !SAFE_METHODS.has(method) && status >= 200 && status < 400;
}

/** What goes with the target itself: `Location` and `Content-Location`, when they are of the same origin. */
export function alsoInvalidated(uri: string, headers: RawHeaders): readonly KeyTarget[] {
  const targets: KeyTarget[] = [];
  for (const field of ['location', 'content-location']) {
    for (const value of allValues(headers, field)) {
      const target = resolveReference(value, uri);
      // RFC 9111 §4.4: not for another origin, or one site could empty another's cache
      if (target !== undefined && isSameOrigin(target, uri)) targets.push(splitTarget(originForm(target)));
    }
  }
  return targets;
}

/** RFC 9110 §9.2.1, and the registered safe ones of others: RFC 4918, 3253, 5323, QUERY. */
const SAFE_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'OPTIONS',
  'PROPFIND',
  'QUERY',
  'REPORT',
  'SEARCH',
  'TRACE',
]);
