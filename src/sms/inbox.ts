/** Receipts and replies from carriers, held until a round has stored them and acknowledged only then. */

interface Entry<T> {
  readonly item: T;
  readonly stored: PromiseWithResolvers<void>;
}

/** Limit of waiting items. More are rejected, and the carrier sends them again. */
const MAX_WAITING = 5_000;

export class Inbox<T> {
  #entries: Entry<T>[] = [];
  readonly #onArrival: () => void;

  constructor(onArrival: () => void) {
    this.#onArrival = onArrival;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Resolves when the item is stored; rejects if it cannot be. */
  put(item: T): Promise<void> {
    if (this.#entries.length >= MAX_WAITING)
      return Promise.reject(new Error('too many receipts are waiting to be stored'));
    const stored = Promise.withResolvers<void>();
    this.#entries.push({ item, stored });
    this.#onArrival();
    return stored.promise;
  }

  /** Takes at most `max` items, for one round, which settles them all. */
  take(max: number): InboxBatch<T> {
    const entries = this.#entries.splice(0, max);
    return {
      items: entries.map(({ item }) => item),
      settle(error) {
        for (const { stored } of entries)
          if (error === undefined) stored.resolve();
          else stored.reject(error);
      },
    };
  }
}

export interface InboxBatch<T> {
  readonly items: readonly T[];
  /** Settles the batch; without an error its items are stored. */
  settle(error?: Error): void;
}
