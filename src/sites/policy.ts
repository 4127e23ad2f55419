/** Cache policies: what the content of one matches. Which of several wins is in `policies.ts`. Edge rule 4 */
import { normalizePath } from '#http/target.ts';
import { compilePattern } from '#lib/linear-regexp.ts';
import { unreachable } from '#lib/unreachable.ts';
import { POLICY_MATCHES, type PolicyMatch } from '#model/rules.ts';
import type { CompileTools } from './compile-tools.ts';
import { encodeLetters } from './pattern-letters.ts';
import type { SieveEntry } from './rule-filter.ts';
import { ANY_TEXT, directoryPiece, lettersPiece, type Signature, suffixPiece } from './signature.ts';
import type { PolicySpec } from './spec.ts';

/** What is matched, in the spelling of the cache key, so that spellings of one object have one policy. */
export interface PolicyTarget {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly keyPath: string;
  readonly query: string;
}

/** How a content is compared: as a directory, as a suffix, or as a pattern with the URL, its path and query, or either. */
const WAYS = { directory: 0, suffix: 1, url: 2, target: 3, either: 4 } as const;
export type Way = (typeof WAYS)[keyof typeof WAYS];

export interface PolicyContent {
  readonly way: Way;
  /**
   * The policy matches where one of its entries does; the entries of a pattern all have its text and the same meaning.
   */
  readonly entries: readonly SieveEntry[];
}

/** What is wrong with a policy's content: completes the sentence "the content …". `undefined`: nothing. */
export function checkPolicy({ match, content }: Pick<PolicySpec, 'match' | 'content'>): string | undefined {
  const compiled = compileContent({ match, content }, { readPattern: compilePattern });
  return typeof compiled === 'string' ? compiled : undefined;
}

/** The content, or what is wrong with it. */
export function compileContent(
  { match, content }: Pick<PolicySpec, 'match' | 'content'>,
  tools: Pick<CompileTools, 'readPattern'>,
): PolicyContent | string {
  return KINDS[match].compile(content, tools);
}

interface PolicyKind {
  /** The content, or what is wrong with it. */
  compile(content: string, tools: Pick<CompileTools, 'readPattern'>): PolicyContent | string;
  /** Adds the pieces of a target that entries of this kind name: without them none matches. docs/decisions/0118 */
  addPieces(signature: Signature, target: PolicyTarget): void;
}

const KINDS: Readonly<Record<PolicyMatch, PolicyKind>> = {
  prefix: { compile: compilePrefix, addPieces: (signature, { keyPath }) => signature.addDirectories(keyPath) },
  suffix: { compile: compileSuffixes, addPieces: (signature, { keyPath }) => signature.addSuffixes(keyPath) },
  regex: {
    compile: compileRegex,
    addPieces: (signature, { scheme, host, keyPath, query }) =>
      signature.addLetters(`${scheme}://${host}${keyPath}${query}`),
  },
};

const KIND_LIST = POLICY_MATCHES.map((match) => KINDS[match]);

/** The kinds among these policies, as bits in the order of `POLICY_MATCHES`. */
export function kindsOf(policies: readonly Pick<PolicySpec, 'match'>[]): number {
  return policies.reduce((bits, { match }) => bits | (1 << POLICY_MATCHES.indexOf(match)), 0);
}

/** Makes the signature of a target from the pieces that these kinds of policies may name. */
export function signTarget(kinds: number, signature: Signature, target: PolicyTarget): void {
  signature.clear();
  for (let index = 0; index < KIND_LIST.length; index++)
    if ((kinds & (1 << index)) !== 0) KIND_LIST[index]?.addPieces(signature, target);
}

/** Whether an entry with this text matches. */
export function matchesEntry(
  way: Way,
  text: string,
  { scheme, host, keyPath, query }: PolicyTarget,
  matchesPattern: CompileTools['matchesPattern'],
): boolean {
  switch (way) {
    case WAYS.directory:
      return keyPath.startsWith(text) && (text.endsWith('/') || [undefined, '/'].includes(keyPath[text.length]));
    case WAYS.suffix:
      return keyPath.slice(-text.length).toLowerCase() === text;
    case WAYS.url:
      return matchesPattern(text, `${scheme}://${host}${keyPath}${query}`);
    case WAYS.target:
      return matchesPattern(text, keyPath + query);
    case WAYS.either:
      return matchesPattern(text, keyPath + query) || matchesPattern(text, `${scheme}://${host}${keyPath}${query}`);
    default:
      return unreachable(way);
  }
}

/** A directory: `/a` is itself and what is below it, `/a/` only what is below. */
function compilePrefix(content: string): PolicyContent | string {
  if (!content.startsWith('/')) return 'does not begin with /';
  if (/[?#]/.test(content)) return 'has a query or a fragment, and a prefix is a path';
  const path = asKeyPath(content);
  if (path === undefined) return 'is not a path: a % without two hexadecimal digits, or a control character';
  return { way: WAYS.directory, entries: [{ piece: directoryPiece(path), text: path }] };
}

/** Returns a path, percent-encoded or not, in the spelling of the cache key; `undefined` if it is not a path. */
function asKeyPath(content: string): string | undefined {
  if (!content.isWellFormed() || /\p{Cc}|%(?![0-9a-f]{2})/iu.test(content)) return undefined;
  return normalizePath(encodeBeyondAscii(content));
}

function encodeBeyondAscii(text: string): string {
  return text.replace(/[^!-~]+/g, encodeURI);
}

function compileSuffixes(content: string): PolicyContent | string {
  const endings = content
    .split(/[,;|，；｜、]/)
    .map((item) => item.trim().replace(/^\./, '').toLowerCase())
    .filter((item) => item !== '')
    .map((item) => `.${item}`);
  if (endings.length === 0) return 'names no suffix';
  if (!content.isWellFormed() || endings.some((ending) => /[/?#\s\p{Cc}]/u.test(ending)))
    return 'has a suffix with a blank, a control character, /, ? or #';
  const encoded = new Set(endings.map((ending) => encodeBeyondAscii(ending).toLowerCase()));
  return { way: WAYS.suffix, entries: Array.from(encoded, (text) => ({ piece: suffixPiece(text), text })) };
}

/** Compiles a pattern for the whole URL and for path and query alone: customers write patterns for either. */
function compileRegex(content: string, tools: Pick<CompileTools, 'readPattern'>): PolicyContent | string {
  const letters = encodeLetters(content);
  if (letters.kind === 'invalid') return letters.reason;
  const pattern = tools.readPattern(letters.text);
  if (pattern.kind === 'pattern') {
    const pieces = pattern.pieces.length === 0 ? [ANY_TEXT] : pattern.pieces.map(lettersPiece);
    return { way: patternWay(letters.text), entries: pieces.map((piece) => ({ piece, text: letters.text })) };
  }
  return letters.text === content ? pattern.reason : `${pattern.reason} (its non-ASCII letters count percent-encoded)`;
}

function patternWay(content: string): Way {
  // Without an anchor or an escape, a match in the path is also one in the URL.
  if (!/[\^\\]/.test(content)) return WAYS.url;
  // No URL begins with a slash.
  return /^\^\/[^|\\]*$/.test(content) ? WAYS.target : WAYS.either;
}
