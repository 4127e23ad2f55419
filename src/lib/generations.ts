/**
 * A bounded map for what is asked for all the time: a use costs one look-up, since nothing is put in the order of use. There are two
 * generations; what the younger has not used when it is full goes with the older.
 */

export interface GenerationsOptions<V> {
  /** Weight of both generations together; may change. A value heavier than half of it is not kept. */
  readonly maxWeight: () => number;
  /** Default: 1 each. */
  readonly weigh?: (value: V) => number;
}

export class Generations<K, V> {
  readonly #options: GenerationsOptions<V>;
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  #youngWeight = 0;
  /** When it was young: what has left it since still counts. */
  #oldWeight = 0;

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

  /** The young are the old. */
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
