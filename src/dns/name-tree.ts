/**
 * The names below the suffix of CNAMEs, and which empty ones lie between them: every domain has a name of its own, for a
 * wildcard beside explicit names would end at the first of them (RFC 4592 §2.2). docs/decisions/0720
 */
import { DAY_MS } from '#lib/durations.ts';

/** How long the name of a deleted domain answers: resolvers and the customer's own zone still have it. */
export const GONE_KEEP_MS = DAY_MS;

/** `empty`: only names below it exist, so that it has no records (RFC 8020). */
export type FoundName =
  | { readonly kind: 'domain'; readonly domainId: number }
  | { readonly kind: 'empty' }
  | { readonly kind: 'none' };

/** The name of a domain, relative to the suffix. */
export interface NamedDomain {
  readonly domainId: number;
  /** When the domain was deleted; absent: it was not. */
  readonly goneAt?: number;
}

interface Node {
  domain: NamedDomain | undefined;
  /** Number of names with a domain below this one. */
  below: number;
}

export class NameTree {
  readonly #nodes = new Map<string, Node>();
  readonly #gone = new Map<string, number>();

  /** Number of names with a domain. */
  get size(): number {
    return this.#size;
  }
  #size = 0;

  /** Returns what is at the name, in lower case. */
  find(name: string, now: number): FoundName {
    const node = this.#nodes.get(name);
    if (node === undefined) return { kind: 'none' };
    if (node.domain !== undefined && !isOver(node.domain, now)) return { kind: 'domain', ...node.domain };
    return { kind: node.below > 0 ? 'empty' : 'none' };
  }

  set(name: string, domain: NamedDomain): void {
    const node = this.#nodeOf(name);
    if (node.domain === undefined) this.#count(name, 1);
    node.domain = domain;
    if (domain.goneAt === undefined) this.#gone.delete(name);
    else this.#gone.set(name, domain.goneAt);
  }

  delete(name: string): void {
    const node = this.#nodes.get(name);
    if (node?.domain === undefined) return;
    node.domain = undefined;
    this.#gone.delete(name);
    this.#count(name, -1);
    this.#forgetEmpty(name);
  }

  clear(): void {
    this.#nodes.clear();
    this.#gone.clear();
    this.#size = 0;
  }

  /** Deletes the names of domains that were deleted a day ago, and returns them. */
  prune(now: number): readonly string[] {
    const over = [...this.#gone].filter(([, goneAt]) => isOver({ goneAt }, now)).map(([name]) => name);
    for (const name of over) this.delete(name);
    return over;
  }

  /** All names with a domain. */
  *entries(): Iterable<readonly [name: string, domain: NamedDomain]> {
    for (const [name, { domain }] of this.#nodes) if (domain !== undefined) yield [name, domain];
  }

  #nodeOf(name: string): Node {
    let node = this.#nodes.get(name);
    if (node === undefined) {
      node = { domain: undefined, below: 0 };
      this.#nodes.set(name, node);
    }
    return node;
  }

  #count(name: string, by: 1 | -1): void {
    this.#size += by;
    for (const parent of parentsOf(name)) {
      this.#nodeOf(parent).below += by;
      this.#forgetEmpty(parent);
    }
  }

  #forgetEmpty(name: string): void {
    const node = this.#nodes.get(name);
    if (node?.domain === undefined && node?.below === 0) this.#nodes.delete(name);
  }
}

/** A clock that was set back keeps the name. */
function isOver({ goneAt }: Pick<NamedDomain, 'goneAt'>, now: number): boolean {
  return goneAt !== undefined && now - goneAt >= GONE_KEEP_MS;
}

function parentsOf(name: string): readonly string[] {
  const labels = name.split('.');
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'));
}
