/** A bounded map that drops what was used longest ago. Bounded by the sum of the entries' weights (1 each by default). */

export interface LruOptions<K, V> {
  /** Sum of weights that may be kept; an entry heavier than this is not kept at all. */
  readonly maxWeight: number;
  /** Read once, when the entry is set; default 1. */
  readonly weigh?: (value: V) => number;
  /** Called when an entry goes for room; not when it is deleted, replaced or cleared. */
  readonly onEvict?: (key: K, value: V) => void;
}

export class Lru<K, V> {
  readonly #options: LruOptions<K, V>;
  /** Entries in order of use: a `Map` iterates in the order of insertion. */
  readonly #entries = new Map<K, { readonly value: V; readonly weight: number }>();
  #weight = 0;

  constructor(options: LruOptions<K, V>) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  get weight(): number {
    return this.#weight;
  }

  /** Counts as a use. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Replaces; evicts others until there is room. False when the entry alone is too heavy (what was there is gone). */
  set(key: K, value: V): boolean {
    this.delete(key);
    const weight = this.#options.weigh?.(value) ?? 1;
    if (weight > this.#options.maxWeight) return false;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    this.#makeRoom();
    return true;
  }

  delete(key: K): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
    return true;
  }

  /** Values from the least to the most recently used; does not count as a use. */
  values(): V[] {
    return [...this.#entries.values()].map(({ value }) => value);
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }

  #makeRoom(): void {
    for (const [key, { value, weight }] of this.#entries) {
      if (this.#weight <= this.#options.maxWeight) return;
      this.#entries.delete(key);
      this.#weight -= weight;
      this.#options.onEvict?.(key, value);
    }
  }
}
