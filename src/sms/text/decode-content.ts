/** The interface's `content`: percent-encoded UTF-8 as forms write it. docs/decisions/0201 */

/**
 * Decoded exactly once; `+` is a blank, and what stands there unencoded stays. `undefined`: a `%` that begins nothing, or
 * bytes that are not UTF-8.
 */
export function decodeContent(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded.replaceAll('+', '%20'));
  } catch {
    return undefined; // a URIError is all that it throws
  }
}
