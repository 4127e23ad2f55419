/** Entity tags: comparison, and the lists of `If-None-Match`. RFC 9110 §8.8.3 */
import { trimOws } from './headers.ts';

/** Strong comparison: both tags are well-formed, strong and equal. RFC 9110 §8.8.3.2 */
export function isStrongMatch(a: string, b: string): boolean {
  return a === b && isStrong(a);
}

/** Weak comparison: equal except for `W/`. Malformed tags (without quotes) are compared as text. */
export function isWeakMatch(a: string, b: string): boolean {
  return opaqueTag(a) === opaqueTag(b);
}

export function isStrong(tag: string): boolean {
  return tag.length >= 2 && tag.startsWith('"') && tag.endsWith('"');
}

/** Returns `*`, or the tags of a list as written; quoted tags may contain commas. Never fails. */
export function parseEntityTags(text: string): '*' | readonly string[] {
  if (trimOws(text) === '*') return '*';
  const tags: string[] = [];
  for (const [member] of text.matchAll(MEMBER)) {
    const tag = trimOws(member);
    if (tag !== '') tags.push(tag);
  }
  return tags;
}

// A quoted tag, or any text between two commas.
const MEMBER = /[ \t]*(?:W\/)?"[^"]*"|[^,]+/g;

function opaqueTag(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
