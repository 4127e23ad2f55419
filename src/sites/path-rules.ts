/** Rules about paths in their order, packed, and the first of them that matches a request. docs/decisions/0117 */
import { type PackedTexts, packTexts, packUnits, textAt } from '#lib/packed.ts';
import type { PathRule } from '#model/rules.ts';
import { POLICY_MATCHES } from '#model/rules.ts';
import type { CompileTools } from './compile-tools.ts';
import { readObject, readOneOf, readText } from './members.ts';
import {
  compileContent,
  kindsOf,
  matchesEntry,
  type PolicyContent,
  type PolicyTarget,
  signTarget,
  type Way,
} from './policy.ts';
import { RuleFilter } from './rule-filter.ts';

export class PathRules {
  readonly #sieve: RuleFilter;
  /** The rule of each entry of the sieve. */
  readonly #owners: string;
  /** How each rule is compared, and its kind: two characters. */
  readonly #ways: string;
  readonly #contents: PackedTexts;
  /** See `kindsOf`. */
  readonly #kinds: number;
  readonly #tools: Pick<CompileTools, 'signature' | 'matchesPattern'>;

  /** Throws `RangeError` for a content that `checkPolicy` speaks of. */
  constructor(rules: readonly PathRule[], tools: CompileTools) {
    const contents = rules.map((rule) => compileOrThrow(rule, tools));
    this.#sieve = new RuleFilter(contents.flatMap(({ entries }) => entries));
    this.#owners = packUnits(contents.flatMap(({ entries }, index) => entries.map(() => index)));
    this.#ways = packUnits(
      contents.flatMap(({ way }, index) => [way, POLICY_MATCHES.indexOf(rules[index]?.match ?? 'prefix')]),
    );
    this.#contents = packTexts(rules.map(({ content }) => content));
    this.#kinds = kindsOf(rules);
    this.#tools = tools;
  }

  get count(): number {
    return this.#ways.length / 2;
  }

  /** Returns the index of the first rule that matches, of those that `accepts` returns true for; `undefined` if none does. */
  find(target: PolicyTarget, accepts: (index: number) => boolean = always): number | undefined {
    const { signature, matchesPattern } = this.#tools;
    signTarget(this.#kinds, signature, target);
    const entry = this.#sieve.find(signature, (text, at) => {
      const rule = this.#owners.charCodeAt(at);
      const way = this.#ways.charCodeAt(rule * 2) as Way; // as the constructor wrote it
      return accepts(rule) && matchesEntry(way, text, target, matchesPattern);
    });
    return entry === -1 ? undefined : this.#owners.charCodeAt(entry);
  }

  ruleAt(index: number): PathRule {
    return {
      match: POLICY_MATCHES[this.#ways.charCodeAt(index * 2 + 1)] ?? 'prefix',
      content: textAt(this.#contents, index),
    };
  }
}

/** Throws `SpecProblem`. */
export function readPathRule(member: string, value: unknown): PathRule {
  const members = readObject(member, value);
  return {
    match: readOneOf(`${member}.match`, members['match'], POLICY_MATCHES),
    content: readText(`${member}.content`, members['content']),
  };
}

function compileOrThrow(rule: PathRule, tools: CompileTools): PolicyContent {
  const content = compileContent(rule, tools);
  if (typeof content === 'string') throw new RangeError(`the content ${content}`);
  return content;
}

function always(): boolean {
  return true;
}
