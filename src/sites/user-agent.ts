/** User-Agent rules: programs that are refused. Edge rule 6 */
import { fieldText } from '#http/field-text.ts';
import type { ParsedEntry } from './address-list.ts';

/** Two customary ways to say "no User-Agent at all". */
const EMPTY_ENTRIES: ReadonlySet<string> = new Set(['^$', 'this-is-empty-ua']);
const MAX_ENTRY_CHARS = 256;

/**
 * Part of a User-Agent, in any case; with `*` a pattern for all of it; `^$` or `this-is-empty-ua` for none. Entries that match
 * the same have the same spelling, as far as that can be told.
 */
export function parseUserAgentEntry(text: string): ParsedEntry {
  const entry = text.trim().toLowerCase().replace(/\*+/g, '*');
  if (entry === '') return { kind: 'invalid', reason: 'is empty' };
  if (entry.length > MAX_ENTRY_CHARS)
    return { kind: 'invalid', reason: `is longer than ${MAX_ENTRY_CHARS} characters` };
  if (/\p{Cc}/u.test(entry) || !entry.isWellFormed()) return { kind: 'invalid', reason: 'contains control characters' };
  return { kind: 'entry', entry: EMPTY_ENTRIES.has(entry) ? '^$' : entry };
}

/** Whether a request with this `User-Agent` (empty without one) is refused. */
export function compileUserAgents(entries: readonly string[]): (userAgent: string) => boolean {
  const deniesEmpty = entries.some((entry) => entry === '^$' || entry === '*');
  const texts = entries.filter((entry) => entry !== '^$').map(foldCase);
  const parts = texts.filter((text) => !text.includes('*'));
  const globs = texts.filter((text) => text.includes('*')).map(compileGlob);
  return (userAgent) => {
    if (userAgent === '') return deniesEmpty;
    const text = foldCase(fieldText(userAgent));
    return parts.some((part) => text.includes(part)) || globs.some((matches) => matches(text));
  };
}

/** Without the one small letter that stands for another at the end of a word: where a part ends says nothing of that. */
function foldCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}

/** `*` is any text, also none. Takes time linear in the text: each piece is looked for once, from where the last one ended. */
function compileGlob(glob: string): (text: string) => boolean {
  const [first = '', ...rest] = glob.split('*');
  const last = rest.pop() ?? '';
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
    let at = first.length;
    for (const piece of rest) {
      const found = text.indexOf(piece, at);
      if (found === -1) return false;
      at = found + piece.length;
    }
    return at <= text.length - last.length;
  };
}
