/** Determines which stored responses an unsafe request invalidates. RFC 9111 §4.4 */
import { allValues, type RawHeaders } from './headers.ts';
import { type KeyTarget, splitTarget } from './target.ts';
import { isSameOrigin, originForm, resolveReference } from './uri.ts';

/** Whether a request invalidates: its method is not known to be safe, and it succeeded. */
export function doesInvalidate(method: string, status: number): boolean {
  return !SAFE_METHODS.has(method) && status >= 200 && status < 400;
}

/**
 * Returns the targets that are invalidated with the request's own: `Location` and `Content-Location` of the same
 * origin.
 */
export function alsoInvalidated(uri: string, headers: RawHeaders): readonly KeyTarget[] {
  const targets: KeyTarget[] = [];
  for (const field of ['location', 'content-location']) {
    for (const value of allValues(headers, field)) {
      const target = resolveReference(value, uri);
      // RFC 9111 §4.4: not for other origins, or one site could empty another's cache
      if (target !== undefined && isSameOrigin(target, uri)) targets.push(splitTarget(originForm(target)));
    }
  }
  return targets;
}

/** Safe methods of RFC 9110 §9.2.1, and registered ones of RFC 4918, 3253, 5323, and QUERY. */
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
