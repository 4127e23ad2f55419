/** References resolved against a target URI, for the fields of a response that name other resources. */

/** Absolute URI without fragment, or `undefined` when it does not parse or is not http(s). RFC 3986 §5 */
export function resolveReference(reference: string, base: string): string | undefined {
  const url = URL.parse(reference, base);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  url.hash = '';
  return url.href;
}

/** Whether a reference in a response names the target itself. RFC 9110 §8.7 */
export function isSameUri(reference: string, target: string): boolean {
  const resolved = resolveReference(reference, target);
  // Both through the parser, which has its own idea of how a URI is written.
  return resolved !== undefined && resolved === resolveReference(target, target);
}

/** Whether a reference names the target by the other scheme, on whatever port. */
export function isOtherScheme(reference: string, target: string): boolean {
  const to = URL.parse(resolveReference(reference, target) ?? '');
  const from = URL.parse(target);
  if (to === null || from === null || to.protocol === from.protocol) return false;
  return to.hostname === from.hostname && to.pathname === from.pathname && to.search === from.search;
}

/** Same scheme, host and port. RFC 6454 §5 */
export function isSameOrigin(a: string, b: string): boolean {
  const [first, second] = [URL.parse(a), URL.parse(b)];
  return first !== null && second !== null && first.origin === second.origin;
}

/** Path and query of an absolute URI. RFC 9112 §3.2.1 */
export function originForm(uri: string): string {
  const url = new URL(uri);
  return url.pathname + url.search;
}
