/**
 * A bounded map for frequent look-ups: a use costs one look-up, since no order of use is kept. There are two
 * generations. When the young one is full, the old one is dropped with everything that was not used since.
 */

export interface GenerationsOptions<V> {
  /** Maximum weight of both generations together; may change. A value heavier than half of it is not kept. */
  readonly maxWeight: () => number;
  /** Weight of a value; default 1. */
  readonly weigh?: (value: V) => number;
}

export class Generations<K, V> {
  readonly #options: GenerationsOptions<V>;
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  #youngWeight = 0;
  /** Weight when the generation was young: values removed since still count. */
  #oldWeight = 0;

  constructor(options: GenerationsOptions<V>) {
    this.#options = options;
  }

  /** Returns the value and counts a use. */
  get(key: K): V | undefined {
    const known = this.#young.get(key);
    if (known !== undefined) return known;
    const found = this.#old.get(key);
    if (found !== undefined) this.set(key, found);
    return found;
  }

  set(key: K, value: V): void {
    this.delete(key);
    const weight = this.#weigh(value);
    const room = this.#options.maxWeight() / 2;
    if (weight > room) return;
    if (this.#youngWeight + weight > room) this.#grow();
    this.#young.set(key, value);
    this.#youngWeight += weight;
    this.trim();
  }

  delete(key: K): void {
    this.#old.delete(key);
    const known = this.#young.get(key);
    if (known !== undefined) this.#youngWeight -= this.#weigh(known);
    this.#young.delete(key);
  }

  /** Drops values after `maxWeight` has fallen. */
  trim(): void {
    const max = this.#options.maxWeight();
    if (this.#youngWeight + this.#oldWeight <= max) return;
    if (this.#youngWeight > max) this.#grow();
    this.#old = new Map();
    this.#oldWeight = 0;
  }

  /** Makes the young generation the old one. */
  #grow(): void {
    this.#old = this.#young;
    this.#oldWeight = this.#youngWeight;
    this.#young = new Map();
    this.#youngWeight = 0;
  }

  #weigh(value: V): number {
    return this.#options.weigh?.(value) ?? 1;
  }
}
