/**
 * A bounded map that evicts the least recently used entry. The bound is the sum of the entries' weights (1 each by
 * default).
 */

export interface LruOptions<K, V> {
  /** Sum of weights that may be kept; an entry heavier than this is not kept at all. */
  readonly maxWeight: number;
  /** Read once, when the entry is set; default 1. */
  readonly weigh?: (value: V) => number;
  /** Called when an entry is evicted; not when it is deleted, replaced or cleared. */
  readonly onEvict?: (key: K, value: V) => void;
}

interface Entry<K, V> {
  readonly key: K;
  readonly value: V;
  readonly weight: number;
  /** The neighbours in the order of use. */
  older: Entry<K, V> | undefined;
  newer: Entry<K, V> | undefined;
}

/**
 * The order of use is a linked list of the entries, so that a use allocates nothing: a `Map` with entries deleted and
 * set again at each use rebuilds its table every few uses.
 */
export class Lru<K, V> {
  readonly #options: LruOptions<K, V>;
  readonly #entries = new Map<K, Entry<K, V>>();
  #oldest: Entry<K, V> | undefined;
  #newest: Entry<K, V> | undefined;
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

  /** Returns the value and counts a use. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry !== this.#newest) {
      this.#unlink(entry);
      this.#append(entry);
    }
    return entry.value;
  }

  /**
   * Sets an entry, evicting others until there is room. Returns false if the entry alone is too heavy; an earlier entry
   * of the key is removed in any case.
   */
  set(key: K, value: V): boolean {
    this.delete(key);
    const weight = this.#options.weigh?.(value) ?? 1;
    if (weight > this.#options.maxWeight) return false;
    const entry: Entry<K, V> = { key, value, weight, older: undefined, newer: undefined };
    this.#entries.set(key, entry);
    this.#append(entry);
    this.#weight += weight;
    this.#makeRoom();
    return true;
  }

  delete(key: K): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#remove(entry);
    return true;
  }

  /** Values from the least to the most recently used; does not count as a use. */
  values(): V[] {
    const values: V[] = [];
    for (let entry = this.#oldest; entry !== undefined; entry = entry.newer) values.push(entry.value);
    return values;
  }

  clear(): void {
    this.#entries.clear();
    this.#oldest = undefined;
    this.#newest = undefined;
    this.#weight = 0;
  }

  #append(entry: Entry<K, V>): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  /** The entry refers to no other one afterwards: an old entry would keep all later ones through minor collections. */
  #unlink(entry: Entry<K, V>): void {
    const { older, newer } = entry;
    entry.older = undefined;
    entry.newer = undefined;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
  }

  #remove(entry: Entry<K, V>): void {
    this.#entries.delete(entry.key);
    this.#unlink(entry);
    this.#weight -= entry.weight;
  }

  #makeRoom(): void {
    while (this.#weight > this.#options.maxWeight) {
      const entry = this.#oldest;
      if (entry === undefined) return;
      this.#remove(entry);
      this.#options.onEvict?.(entry.key, entry.value);
    }
  }
}
