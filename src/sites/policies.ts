/** A site's cache policies in the order in which they win, packed, and which of them decides about a request. Edge rule 4 */
import { numberAt, packNumbers } from '#lib/packed.ts';
import { YEAR_SECONDS } from '#model/limits.ts';
import { type CompileTools, createStrictTools } from './compile-tools.ts';
import { PathRules } from './path-rules.ts';
import type { PolicyTarget } from './policy.ts';
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
  readonly #rules: PathRules;
  /** One row per policy, its members in the order of `ROW`. */
  readonly #rows: string;

  /** Throws `RangeError` for a content that `checkPolicy` speaks of. */
  constructor(spec: CachingSpec, tools: CompileTools = createStrictTools()) {
    const policies = inOrder(spec);
    this.#rules = new PathRules(policies, tools);
    this.#rows = packNumbers(policies.flatMap(toRow));
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
    return Array.from({ length: this.#rules.count }, (_, index) => this.#policyAt(index));
  }

  #find(target: PolicyTarget): number | undefined {
    return this.#rules.find(target, (policy) => {
      const scheme = SCHEMES[this.#member(policy, ROW.scheme)];
      return scheme === undefined || scheme === target.scheme;
    });
  }

  #policyAt(index: number): SitePolicy {
    return {
      ...this.#rules.ruleAt(index),
      scheme: SCHEMES[this.#member(index, ROW.scheme)],
      lifetimeSeconds: this.#member(index, ROW.lifetime),
    };
  }

  #member(policy: number, member: number): number {
    return numberAt(this.#rows, policy * ROW_LENGTH + member);
  }
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
const ROW = { scheme: 0, lifetime: 1 } as const;
const ROW_LENGTH = 2;

function toRow({ scheme, isCached, lifetimeSeconds }: PolicySpec): readonly number[] {
  return [SCHEMES.indexOf(scheme), isCached ? Math.min(lifetimeSeconds, YEAR_SECONDS) : 0];
}
