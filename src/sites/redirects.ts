/** A site's redirects: which of them sends a request elsewhere, and where. docs/decisions/0638 */
import { splitTarget } from '#http/target.ts';
import { MAX_REDIRECT_CHARS } from '#model/limits.ts';
import { REDIRECT_STATUSES, type RedirectRule } from '#model/rules.ts';
import { type CompileTools, createStrictTools } from './compile-tools.ts';
import { expected, readObject, readOneOf, readRules, readText, SpecProblem } from './members.ts';
import { PathRules, readPathRule } from './path-rules.ts';
import type { PolicyTarget } from './policy.ts';

/** What a customer wrote as a target; `reason` completes the sentence "the target …". */
export type RedirectTarget =
  /** `location`: as it is sent. `url`: the same, absolute on a host of no meaning if it is a path. */
  | { readonly kind: 'target'; readonly location: string; readonly isPath: boolean; readonly url: URL }
  | { readonly kind: 'invalid'; readonly reason: string };

interface SiteRedirect {
  readonly location: string;
  readonly status: RedirectRule['status'];
  readonly keepsQuery: boolean;
}

export class SiteRedirects {
  readonly #rules: PathRules;
  readonly #redirects: readonly SiteRedirect[];

  /** Throws `RangeError` for a path or a target that cannot be used. */
  constructor(rules: readonly RedirectRule[], tools: CompileTools) {
    this.#rules = new PathRules(rules, tools);
    this.#redirects = rules.map(({ target, status, keepsQuery }) => {
      const parsed = parseRedirectTarget(target);
      if (parsed.kind === 'invalid') throw new RangeError(`the target ${parsed.reason}`);
      return { location: parsed.location, status, keepsQuery };
    });
  }

  /** Where a request is sent, and how; `undefined`: nowhere. */
  find(target: PolicyTarget): { readonly location: string; readonly status: RedirectRule['status'] } | undefined {
    const index = this.#rules.find(target);
    const found = index === undefined ? undefined : this.#redirects[index];
    if (found === undefined) return undefined;
    const { location, status, keepsQuery } = found;
    return { location: keepsQuery ? withQuery(location, target.query) : location, status };
  }
}

function withQuery(location: string, query: string): string {
  if (query.length <= 1) return location;
  const [, base = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(location) ?? [];
  return `${base}${base.includes('?') ? `&${query.slice(1)}` : query}${fragment}`;
}

export function parseRedirectTarget(text: string): RedirectTarget {
  if (/\p{Cc}/u.test(text)) return { kind: 'invalid', reason: 'contains control characters' };
  const isPath = /^\/(?![/\\])/.test(text);
  const url = isPath || /^https?:\/\//i.test(text) ? URL.parse(text, 'http://path.invalid') : null;
  // `/.//host` is resolved to `//host`, which is another host.
  if (url === null || (isPath && url.pathname.startsWith('//')))
    return {
      kind: 'invalid',
      reason: 'is neither a URL that begins with http:// or https:// nor a path that begins with a single /',
    };
  if (url.username !== '' || url.password !== '') return { kind: 'invalid', reason: 'has a user name' };
  const location = isPath ? url.pathname + url.search + url.hash : url.href;
  if (location.length > MAX_REDIRECT_CHARS)
    return { kind: 'invalid', reason: `is longer than ${MAX_REDIRECT_CHARS} characters in ASCII` };
  return { kind: 'target', location, isPath, url };
}

/**
 * Returns the index of a rule whose target is redirected again, by this rule or others, until it is back; `undefined` if
 * there is none. `name`: of the site, which other hosts may lead back to unseen.
 */
export function findRedirectLoop(
  rules: readonly RedirectRule[],
  name: string,
  tools: CompileTools = createStrictTools(),
): number | undefined {
  const paths = new PathRules(rules, tools);
  const host = name.replace(/^\*\./, 'www.');
  const next = (index: number, scheme: 'http' | 'https'): number | undefined => {
    const parsed = parseRedirectTarget(rules[index]?.target ?? '');
    if (parsed.kind === 'invalid') return undefined;
    const { isPath, url } = parsed;
    if (!isPath && url.host !== host) return undefined;
    const of = isPath ? scheme : url.protocol === 'https:' ? 'https' : 'http';
    return paths.find({ scheme: of, host, ...splitTarget(url.pathname + url.search) });
  };
  const leadsBack = (start: number, scheme: 'http' | 'https'): boolean => {
    let at: number | undefined = next(start, scheme);
    for (let steps = 0; at !== undefined && at !== start && steps < rules.length; steps++) at = next(at, scheme);
    return at === start;
  };
  const index = rules.findIndex((_, start) => leadsBack(start, 'http') || leadsBack(start, 'https'));
  return index === -1 ? undefined : index;
}

/** Returns `undefined` for no redirects. Throws `SpecProblem`. */
export function readRedirects(name: string, value: unknown, tools: CompileTools): SiteRedirects | undefined {
  return readRules('redirects', value, readRedirect, (rules) => {
    const compiled = new SiteRedirects(rules, tools);
    const loop = findRedirectLoop(rules, name, tools);
    if (loop !== undefined) throw new SpecProblem(`redirects[${loop}].target: is redirected back to itself`);
    return compiled;
  });
}

function readRedirect(member: string, value: unknown): RedirectRule {
  const members = readObject(member, value);
  const status = REDIRECT_STATUSES.find((each) => each === members['status']);
  if (status === undefined)
    throw expected(`${member}.status`, `one of ${REDIRECT_STATUSES.join(', ')}`, members['status']);
  return {
    ...readPathRule(member, value),
    target: readText(`${member}.target`, members['target']),
    status,
    keepsQuery: readOneOf(`${member}.keepsQuery`, members['keepsQuery'], [true, false]),
  };
}
