/**
 * Cache policies: what their content matches, and which of several wins. A policy is matched against the path and query of the
 * cache key, so that spellings of one object have one policy. Edge rule 4
 */
import { normalisePath } from '#http/target.ts';
import { type CompileTools, PLAIN_TOOLS } from './compile-tools.ts';
import { encodeLetters } from './pattern-letters.ts';
import type { CachingSpec, PolicySpec } from './spec.ts';

/** What is matched, in the spelling of the cache key. */
interface Target {
  readonly scheme: string;
  /** All of it: `scheme://host/path?query`. */
  readonly url: string;
  readonly pathAndQuery: string;
  readonly path: string;
  /** Lower case: `.tar.gz` and `.gz` of `/a/b.tar.gz`. */
  readonly suffixes: readonly string[];
}

export interface SitePolicy {
  readonly match: PolicySpec['match'];
  readonly content: string;
  readonly scheme: PolicySpec['scheme'] | undefined;
  /** 0: neither stored nor served from the store. At most a year. */
  readonly lifetimeSeconds: number;
  readonly matches: (target: Target) => boolean;
  /** What a pattern takes of memory, beside the policy itself. */
  readonly patternBytes?: number;
}

type Matcher = Pick<SitePolicy, 'matches' | 'patternBytes'>;

/** What is wrong with a policy's content: completes the sentence "the content …". `undefined`: nothing. */
export function checkPolicy({ match, content }: Pick<PolicySpec, 'match' | 'content'>): string | undefined {
  const compiled = compileContent(match, content, PLAIN_TOOLS);
  return typeof compiled === 'string' ? compiled : undefined;
}

/** In the order in which they win. Throws `RangeError` for a content that `checkPolicy` speaks of. */
export function compilePolicies(
  { policies, prefixFirst }: CachingSpec,
  tools: CompileTools = PLAIN_TOOLS,
): readonly SitePolicy[] {
  return policies
    .map((policy, index) => ({ policy, index }))
    .sort((a, b) => {
      const byClass = prefixFirst ? comparePrefixFirst(a.policy, b.policy) : b.policy.priority - a.policy.priority;
      return byClass || a.index - b.index; // of equal ones the earlier wins
    })
    .map(({ policy }) => compilePolicy(policy, tools));
}

/**
 * The one policy that decides about a URL, whose path and query are in the spelling of the cache key; `policies` as
 * `compilePolicies` gave them.
 */
export function winningPolicy(policies: readonly SitePolicy[], url: string): SitePolicy | undefined {
  const [, scheme = '', pathAndQuery = '', path = ''] = /^(https?):\/\/[^/]*(([^?]*).*)$/s.exec(url) ?? [];
  const target: Target = { scheme, url, pathAndQuery, path, suffixes: suffixesOf(path) };
  return policies.find((policy) => (policy.scheme ?? scheme) === scheme && policy.matches(target));
}

function suffixesOf(path: string): readonly string[] {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const suffixes: string[] = [];
  for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) suffixes.push(name.slice(dot));
  return suffixes;
}

const MAX_LIFETIME_SECONDS = 365 * 24 * 3600;

function compilePolicy(
  { match, content, scheme, isCached, lifetimeSeconds }: PolicySpec,
  tools: CompileTools,
): SitePolicy {
  const matcher = compileContent(match, content, tools);
  if (typeof matcher === 'string') throw new RangeError(`the content ${matcher}`);
  const seconds = isCached ? Math.min(lifetimeSeconds, MAX_LIFETIME_SECONDS) : 0;
  return { match, content, scheme, lifetimeSeconds: seconds, ...matcher };
}

/** Prefixes before all others; then the higher priority; of prefixes the longer. docs/decisions/0115 */
function comparePrefixFirst(a: PolicySpec, b: PolicySpec): number {
  const isPrefix = ({ match }: PolicySpec) => Number(match === 'prefix');
  const byLength = a.match === 'prefix' ? b.content.length - a.content.length : 0;
  return isPrefix(b) - isPrefix(a) || b.priority - a.priority || byLength;
}

/** The matcher, or what is wrong. */
function compileContent(match: PolicySpec['match'], content: string, tools: CompileTools): Matcher | string {
  switch (match) {
    case 'prefix':
      return compilePrefix(content);
    case 'suffix':
      return compileSuffixes(content);
    case 'regex':
      return compileRegex(content, tools);
  }
}

/** A directory: `/a` is itself and what is below it, `/a/` only what is below. */
function compilePrefix(content: string): Matcher | string {
  if (!content.startsWith('/')) return 'does not begin with /';
  if (/[?#]/.test(content)) return 'has a query or a fragment, and a prefix is a path';
  const path = asKeyPath(content);
  if (path === undefined) return 'is not a path: a % without two hexadecimal digits, or a control character';
  if (path.endsWith('/')) return { matches: (target) => target.path.startsWith(path) };
  const below = `${path}/`;
  return { matches: (target) => target.path === path || target.path.startsWith(below) };
}

/** Written as people read it or as it travels: in the spelling of the cache key. */
function asKeyPath(content: string): string | undefined {
  if (!content.isWellFormed() || /\p{Cc}|%(?![0-9a-f]{2})/iu.test(content)) return undefined;
  return normalisePath(encodeBeyondAscii(content));
}

function encodeBeyondAscii(text: string): string {
  return text.replace(/[^!-~]+/g, encodeURI);
}

function compileSuffixes(content: string): Matcher | string {
  const endings = content
    .split(/[,;|，；｜、]/)
    .map((item) => item.trim().replace(/^\./, '').toLowerCase())
    .filter((item) => item !== '')
    .map((item) => `.${item}`);
  if (endings.length === 0) return 'names no suffix';
  if (!content.isWellFormed() || endings.some((ending) => /[/?#\s\p{Cc}]/u.test(ending)))
    return 'has a suffix with a blank, a control character, /, ? or #';
  const encoded = new Set(endings.map((ending) => encodeBeyondAscii(ending).toLowerCase()));
  return {
    matches: ({ suffixes }) => suffixes.some((suffix) => encoded.has(suffix)),
  };
}

/** Against the whole URL and against path and query alone: customers write patterns for either. */
function compileRegex(content: string, tools: CompileTools): Matcher | string {
  const letters = encodeLetters(content);
  if (letters.kind === 'invalid') return letters.reason;
  const pattern = tools.compilePattern(letters.text);
  if (pattern.kind === 'pattern')
    return { matches: regexMatcher(letters.text, pattern.test), patternBytes: pattern.sizeBytes };
  return letters.text === content ? pattern.reason : `${pattern.reason} (its letters beyond ASCII are percent-encoded)`;
}

function regexMatcher(content: string, test: (text: string) => boolean): SitePolicy['matches'] {
  // What is tied to no beginning, and finds a match in the path, finds it in the URL too.
  if (!/[\^\\]/.test(content)) return ({ url }) => test(url);
  // No URL begins with a slash.
  if (/^\^\/[^|\\]*$/.test(content)) return ({ pathAndQuery }) => test(pathAndQuery);
  return ({ url, pathAndQuery }) => test(pathAndQuery) || test(url);
}
