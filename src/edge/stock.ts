/** Something bounded that is shared among clients and among domains at the same time. Pure. docs/decisions/0440 */
import { createShares } from '#lib/shares.ts';

/** On whose behalf something is taken. */
export interface Owner {
  /** See `clientNetwork`. */
  readonly client: string;
  readonly domainId: number;
}

export interface Stock {
  /** All that is taken. */
  readonly taken: number;
  /** Whether the owner's client and its domain may both have `amount` more. */
  mayTake(owner: Owner, amount: number): boolean;
  /** A negative `amount` gives back. */
  add(owner: Owner, amount: number): void;
}

export function createStock(max: number): Stock {
  const byClient = createShares(max);
  const byDomain = createShares(max);
  return {
    get taken() {
      return byClient.taken;
    },
    mayTake: ({ client, domainId }, amount) =>
      byClient.mayTake(client, amount) && byDomain.mayTake(String(domainId), amount),
    add: ({ client, domainId }, amount) => {
      byClient.add(client, amount);
      byDomain.add(String(domainId), amount);
    },
  };
}
