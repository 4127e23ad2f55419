/** The interface's `content`: percent-encoded UTF-8 as forms write it. docs/decisions/0201 */

/**
 * Decodes exactly once; `+` is a blank, and unencoded characters stay. Returns `undefined` for an incomplete `%`
 * sequence or bytes that are not UTF-8.
 */
export function decodeContent(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded.replaceAll('+', '%20'));
  } catch {
    return undefined; // it throws only URIErrors
  }
}
