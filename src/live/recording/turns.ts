/** Whose recording is sent next: domains take turns, and in each the recordings. A long backlog of one holds up no other. */

export class Turns<Item> {
  readonly #domains = new Map<number, Map<string, Item>>();

  get(domainId: number, recording: string): Item | undefined {
    return this.#domains.get(domainId)?.get(recording);
  }

  /** Adds the item behind all others. */
  add(domainId: number, recording: string, item: Item): void {
    const items = this.#domains.get(domainId) ?? new Map<string, Item>();
    items.set(recording, item);
    this.#domains.set(domainId, items);
  }

  delete(domainId: number, recording: string): void {
    const items = this.#domains.get(domainId);
    items?.delete(recording);
    if (items?.size === 0) this.#domains.delete(domainId);
  }

  /** The next of which `isReady` holds; it and its domain go behind all others. */
  take(isReady: (item: Item) => boolean): Item | undefined {
    for (const [domainId, items] of this.#domains)
      for (const [recording, item] of items) {
        if (!isReady(item)) continue;
        items.delete(recording);
        items.set(recording, item);
        this.#domains.delete(domainId);
        this.#domains.set(domainId, items);
        return item;
      }
    return undefined;
  }

  *[Symbol.iterator](): Generator<Item> {
    for (const items of this.#domains.values()) yield* items.values();
  }
}
