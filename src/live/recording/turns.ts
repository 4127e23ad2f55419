/** Round-robin over domains, and over the recordings of each, so that a long backlog delays no other recording. */

export class Turns<Item> {
  readonly #domains = new Map<number, Map<string, Item>>();

  get(domainId: number, recording: string): Item | undefined {
    return this.#domains.get(domainId)?.get(recording);
  }

  /** Adds the item as the last of its domain. */
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

  /** Returns the next item that `isReady` accepts, and moves it and its domain to the end. */
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
