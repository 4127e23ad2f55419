/**
 * A bounded map for what is asked for all the time: a use costs one look-up, since nothing is put in the order of use. There are two
 * generations; what the younger has not used when it is full goes with the older.
 */

export interface GenerationsOptions<V> {
  /** Of one generation, so that twice as much may be there; a heavier value is not kept. */
  readonly maxWeight: number;
  /** Default: 1 each. */
  readonly weigh?: (value: V) => number;
}

export class Generations<K, V> {
  readonly #options: GenerationsOptions<V>;
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  /** Of the younger. */
  #weight = 0;

  constructor(options: GenerationsOptions<V>) {
    this.#options = options;
  }

  /** Counts as a use. */
  get(key: K): V | undefined {
    const known = this.#young.get(key);
    if (known !== undefined) return known;
    const found = this.#old.get(key);
    if (found !== undefined) this.set(key, found);
    return found;
  }

  set(key: K, value: V): void {
    this.delete(key);
    const { maxWeight, weigh } = this.#options;
    const weight = weigh?.(value) ?? 1;
    if (weight > maxWeight) return;
    if (this.#weight + weight > maxWeight) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#weight = 0;
    }
    this.#young.set(key, value);
    this.#weight += weight;
  }

  delete(key: K): void {
    this.#old.delete(key);
    const known = this.#young.get(key);
    if (known !== undefined) this.#weight -= this.#options.weigh?.(known) ?? 1;
    this.#young.delete(key);
  }
}
