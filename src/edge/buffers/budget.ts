/** What buffers of bodies may take of memory, of the disk and of open files: bounded in all, by client and by domain. Pure. */
import { createShares } from '../shares.ts';

/** Whom a body is kept for. */
export interface BufferOwner {
  /** See `clientNetwork`. */
  readonly client: string;
  readonly domainId: number;
}

interface Stock {
  /** All that is taken. */
  readonly taken: number;
  /** Whether the owner's client and its domain may both have `amount` more. */
  mayTake(owner: BufferOwner, amount: number): boolean;
  /** A negative `amount` gives back. */
  add(owner: BufferOwner, amount: number): void;
}

export interface BufferBudget {
  readonly memoryBytes: Stock;
  readonly fileBytes: Stock;
  readonly files: Stock;
}

export interface BufferLimits {
  readonly memoryBytes: number;
  readonly fileBytes: number;
  readonly files: number;
}

export function createBufferBudget(limits: BufferLimits): BufferBudget {
  return {
    memoryBytes: createStock(limits.memoryBytes),
    fileBytes: createStock(limits.fileBytes),
    files: createStock(limits.files),
  };
}

function createStock(max: number): Stock {
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
