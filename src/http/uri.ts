/** Resolves references against a target URI, for response fields that name other resources. */

/** Returns the absolute URI without fragment; `undefined` if it does not parse or is not http(s). RFC 3986 §5 */
export function resolveReference(reference: string, base: string): string | undefined {
  const url = URL.parse(reference, base);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  url.hash = '';
  return url.href;
}

/** Whether a reference in a response names the target itself. RFC 9110 §8.7 */
export function isSameUri(reference: string, target: string): boolean {
  const resolved = resolveReference(reference, target);
  // Both pass through the parser, which normalizes URIs in its own way.
  return resolved !== undefined && resolved === resolveReference(target, target);
}

/** Whether a reference names the target with the other scheme, on any port. */
export function isOtherScheme(reference: string, target: string): boolean {
  const to = URL.parse(resolveReference(reference, target) ?? '');
  const from = URL.parse(target);
  if (to === null || from === null || to.protocol === from.protocol) return false;
  return to.hostname === from.hostname && to.pathname === from.pathname && to.search === from.search;
}

/** Whether two URIs have the same scheme, host and port. RFC 6454 §5 */
export function isSameOrigin(a: string, b: string): boolean {
  const [first, second] = [URL.parse(a), URL.parse(b)];
  return first !== null && second !== null && first.origin === second.origin;
}

/** Returns path and query of an absolute URI. RFC 9112 §3.2.1 */
export function originForm(uri: string): string {
  const url = new URL(uri);
  return url.pathname + url.search;
}
