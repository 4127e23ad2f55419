/** Letters beyond ASCII in a pattern, in the spelling of the URLs that it is looked for in: percent-encoded. Edge rule 4 */

export type PatternLetters =
  | { readonly kind: 'pattern'; readonly text: string }
  /** `reason` completes the sentence "the pattern …". */
  | { readonly kind: 'invalid'; readonly reason: string };

/** `图+` becomes `(?:%E5%9B%BE)+`: one letter to its author, nine characters in a URL. */
export function encodeLetters(pattern: string): PatternLetters {
  if (!pattern.isWellFormed()) return { kind: 'invalid', reason: 'is not well-formed Unicode' };
  // In a class a letter would have to be one character.
  const bound = BEYOND_ASCII.exec((pattern.match(BOUND) ?? []).join(''))?.[0];
  if (bound !== undefined) {
    const place = 'in a class, in \\Q…\\E or after a backslash';
    const reason = `has ${bound} ${place}, which URLs have percent-encoded: write ${encodeURIComponent(bound)} outside of that`;
    return { kind: 'invalid', reason };
  }
  const text = pattern.replace(REPEATED, (letter) => `(?:${encodeURIComponent(letter)})`);
  return { kind: 'pattern', text: text.replace(LETTERS, encodeURIComponent) };
}

const BEYOND_ASCII = /[^\0-\x7f]/u;
const LETTERS = /[^\0-\x7f]+/gu;
/** Followed by a quantifier. */
const REPEATED = /[^\0-\x7f](?=[*+?{])/gu;
/** Where a pattern takes each character for itself: `\Q…\E`, an escape, a class (whose first `]` may be a member). */
const BOUND = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]/gsu;
