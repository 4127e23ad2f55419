/** Something bounded that is shared among clients and among domains at the same time. Pure. docs/decisions/0440, docs/decisions/0464 */
import { createShares } from '#lib/shares.ts';

/** The client and the domain that something is taken for. */
export interface StockOwner {
  /** See `clientNetwork`. */
  readonly client: string;
  readonly domainId: number;
}

export interface Stock {
  /** All that is taken. */
  readonly taken: number;
  /** Whether the owner may have `amount` more: by its client's share of the stock, its domain's, and its client's share of its domain's. */
  mayTake(owner: StockOwner, amount: number): boolean;
  /** A negative `amount` gives back. */
  add(owner: StockOwner, amount: number): void;
}

export function createStock(max: number): Stock {
  const byClient = createShares(max);
  const byDomain = createShares(max);
  const byClientOfDomain = createShares(max);
  const mayTakeOfDomain = (owner: StockOwner, domain: string, amount: number): boolean => {
    // Each unit that the domain takes leaves it two fewer to take: one is gone from what is free, and its share has one more.
    const room = Math.ceil((byDomain.free - byDomain.heldBy(domain)) / 2);
    return byClientOfDomain.heldBy(nameOf(owner)) + amount <= room;
  };
  return {
    get taken() {
      return byClient.taken;
    },
    mayTake: (owner, amount) => {
      const domain = String(owner.domainId);
      return (
        byClient.mayTake(owner.client, amount) &&
        byDomain.mayTake(domain, amount) &&
        mayTakeOfDomain(owner, domain, amount)
      );
    },
    add: (owner, amount) => {
      byClient.add(owner.client, amount);
      byDomain.add(String(owner.domainId), amount);
      byClientOfDomain.add(nameOf(owner), amount);
    },
  };
}

function nameOf({ client, domainId }: StockOwner): string {
  return `${domainId} ${client}`;
}
