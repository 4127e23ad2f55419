/** User-Agent rules: programs that are refused. Edge rule 6 */
import { fieldText } from '#http/field-text.ts';
import { MAX_USER_AGENT_ENTRY_CHARS } from '#model/limits.ts';
import type { ParsedEntry } from './address-list.ts';
import { RuleFilter, type SieveEntry } from './rule-filter.ts';
import { lettersPiece, Signature } from './signature.ts';

/** Two customary ways to say "no User-Agent at all". */
const EMPTY_ENTRIES: ReadonlySet<string> = new Set(['^$', 'this-is-empty-ua']);

/**
 * Part of a User-Agent, in any case; with `*` a pattern for all of it; `^$` or `this-is-empty-ua` for none. Entries that match
 * the same have the same spelling, as far as that can be told.
 */
export function parseUserAgentEntry(text: string): ParsedEntry {
  const entry = text.trim().toLowerCase().replace(/\*+/g, '*');
  if (entry === '') return { kind: 'invalid', reason: 'is empty' };
  if (entry.length > MAX_USER_AGENT_ENTRY_CHARS)
    return { kind: 'invalid', reason: `is longer than ${MAX_USER_AGENT_ENTRY_CHARS} characters` };
  if (/\p{Cc}/u.test(entry) || !entry.isWellFormed()) return { kind: 'invalid', reason: 'contains control characters' };
  return { kind: 'entry', entry: EMPTY_ENTRIES.has(entry) ? '^$' : entry };
}

/** A User-Agent as entries are compared with it. */
export interface UserAgent {
  readonly text: string;
  readonly signature: Signature;
}

export function readUserAgent(userAgent: string): UserAgent {
  const text = foldCase(fieldText(userAgent));
  const signature = new Signature();
  signature.addLetters(text);
  return { text, signature };
}

export class UserAgentList {
  readonly #deniesEmpty: boolean;
  readonly #sieve: RuleFilter;
  readonly #read: typeof readUserAgent;

  /** `read` is `readUserAgent`, perhaps one that remembers. */
  constructor(entries: readonly string[], read = readUserAgent) {
    this.#deniesEmpty = entries.some((entry) => entry === '^$' || entry === '*');
    this.#sieve = new RuleFilter(
      entries
        .filter((entry) => entry !== '^$')
        .map(foldCase)
        .map(sieveEntry),
    );
    this.#read = read;
  }

  /** Whether a request with this `User-Agent` is refused; to have none, or one that says nothing, is the same. */
  denies(userAgent: string | undefined): boolean {
    if (userAgent === undefined || userAgent === '') return this.#deniesEmpty;
    const { text, signature } = this.#read(userAgent);
    return this.#sieve.find(signature, (entry) => matchesEntry(entry, text)) !== -1;
  }
}

/**
 * Folds case; the final sigma (ς) counts as σ, since the end of a part says nothing about the end of a word.
 */
function foldCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}

/** Entry for the longest part, which is likely the rarest. */
function sieveEntry(text: string): SieveEntry {
  const longest = text.split('*').reduce((best, part) => (part.length > best.length ? part : best), '');
  return { piece: lettersPiece(longest), text };
}

function matchesEntry(entry: string, text: string): boolean {
  return entry.includes('*') ? matchesGlob(entry, text) : text.includes(entry);
}

/** `*` is any text, also none. Takes time linear in the text: each piece is looked for once, from where the last one ended. */
function matchesGlob(glob: string, text: string): boolean {
  const [first = '', ...rest] = glob.split('*');
  const last = rest.pop() ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}
