/** A site's cache policies in the order in which they win, packed, and which of them decides about a request. Edge rule 4 */
import { numberAt, type PackedTexts, packNumbers, packTexts, packUnits, textAt } from '#lib/packed.ts';
import { POLICY_MATCHES } from '#model/domain.ts';
import { YEAR_SECONDS } from '#model/limits.ts';
import { type CompileTools, createStrictTools } from './compile-tools.ts';
import {
  compileContent,
  kindsOf,
  matchesEntry,
  type PolicyContent,
  type PolicyTarget,
  signTarget,
  WAYS,
  type Way,
} from './policy.ts';
import { RuleFilter } from './rule-filter.ts';
import type { CachingSpec, PolicySpec } from './spec.ts';

export interface SitePolicy {
  readonly match: PolicySpec['match'];
  /** Content as the customer wrote it. */
  readonly content: string;
  readonly scheme: PolicySpec['scheme'] | undefined;
  /** 0: neither stored nor served from the store. At most a year. */
  readonly lifetimeSeconds: number;
}

export class SitePolicies {
  readonly #sieve: RuleFilter;
  /** The policy of each entry of the sieve. */
  readonly #owners: string;
  /** One row per policy, its members in the order of `ROW`. */
  readonly #rows: string;
  readonly #contents: PackedTexts;
  readonly #count: number;
  /** See `kindsOf`. */
  readonly #kinds: number;
  readonly #tools: Pick<CompileTools, 'signature' | 'matchesPattern'>;

  /** Throws `RangeError` for a content that `checkPolicy` speaks of. */
  constructor(spec: CachingSpec, tools: CompileTools = createStrictTools()) {
    const policies = inOrder(spec);
    const contents = policies.map((policy) => compileOrThrow(policy, tools));
    this.#sieve = new RuleFilter(contents.flatMap(({ entries }) => entries));
    this.#owners = packUnits(contents.flatMap(({ entries }, index) => entries.map(() => index)));
    this.#rows = packNumbers(policies.flatMap((policy, index) => toRow(policy, contents[index]?.way ?? WAYS.url)));
    this.#contents = packTexts(policies.map(({ content }) => content));
    this.#count = policies.length;
    this.#kinds = kindsOf(policies);
    this.#tools = tools;
  }

  /** How long the policy that decides has it stored, see `SitePolicy`; `undefined`: none does. */
  lifetimeFor(target: PolicyTarget): number | undefined {
    const winner = this.#find(target);
    return winner === undefined ? undefined : this.#member(winner, ROW.lifetime);
  }

  /** The policy that decides, if any. */
  winnerFor(target: PolicyTarget): SitePolicy | undefined {
    const winner = this.#find(target);
    return winner === undefined ? undefined : this.#policyAt(winner);
  }

  /** All policies, the one that wins first. */
  list(): readonly SitePolicy[] {
    return Array.from({ length: this.#count }, (_, index) => this.#policyAt(index));
  }

  #find(target: PolicyTarget): number | undefined {
    const { signature } = this.#tools;
    signTarget(this.#kinds, signature, target);
    const entry = this.#sieve.find(signature, (text, index) => this.#matches(target, text, index));
    return entry === -1 ? undefined : this.#owners.charCodeAt(entry);
  }

  #matches(target: PolicyTarget, text: string, entry: number): boolean {
    const policy = this.#owners.charCodeAt(entry);
    const scheme = SCHEMES[this.#member(policy, ROW.scheme)];
    if (scheme !== undefined && scheme !== target.scheme) return false;
    const way = this.#member(policy, ROW.way) as Way; // as `toRow` wrote it
    return matchesEntry(way, text, target, this.#tools.matchesPattern);
  }

  #policyAt(index: number): SitePolicy {
    return {
      match: POLICY_MATCHES[this.#member(index, ROW.match)] ?? 'prefix',
      content: textAt(this.#contents, index),
      scheme: SCHEMES[this.#member(index, ROW.scheme)],
      lifetimeSeconds: this.#member(index, ROW.lifetime),
    };
  }

  #member(policy: number, member: number): number {
    return numberAt(this.#rows, policy * ROW_LENGTH + member);
  }
}

function compileOrThrow(policy: PolicySpec, tools: CompileTools): PolicyContent {
  const content = compileContent(policy, tools);
  if (typeof content === 'string') throw new RangeError(`the content ${content}`);
  return content;
}

function inOrder({ policies, prefixFirst }: CachingSpec): readonly PolicySpec[] {
  // Sorting keeps the order of equal ones: the earlier wins.
  return policies.toSorted((a, b) => (prefixFirst ? comparePrefixFirst(a, b) : b.priority - a.priority));
}

/** Prefixes before all others; then the higher priority; of prefixes the longer. docs/decisions/0115 */
function comparePrefixFirst(a: PolicySpec, b: PolicySpec): number {
  const isPrefix = ({ match }: PolicySpec) => Number(match === 'prefix');
  const byLength = a.match === 'prefix' ? b.content.length - a.content.length : 0;
  return isPrefix(b) - isPrefix(a) || b.priority - a.priority || byLength;
}

const SCHEMES: readonly PolicySpec['scheme'][] = [undefined, 'http', 'https'];
const ROW = { match: 0, scheme: 1, way: 2, lifetime: 3 } as const;
const ROW_LENGTH = 4;

function toRow({ match, scheme, isCached, lifetimeSeconds }: PolicySpec, way: Way): readonly number[] {
  const lifetime = isCached ? Math.min(lifetimeSeconds, YEAR_SECONDS) : 0;
  return [POLICY_MATCHES.indexOf(match), SCHEMES.indexOf(scheme), way, lifetime];
}
