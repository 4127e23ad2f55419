/** Index of a tier's entries by hash, with each entry's weight and the order of eviction. */
import { Sieve } from './sieve.ts';
import { grown, SlotTable } from './slot-table.ts';

const FIRST_CAPACITY = 64;

export class WeightedIndex {
  readonly #table = new SlotTable();
  readonly #sieve = new Sieve();
  #weights = new Float64Array(FIRST_CAPACITY);

  get size(): number {
    return this.#table.size;
  }

  /** Memory of the index itself. */
  get bytes(): number {
    return this.#table.bytes + this.#sieve.bytes + this.#weights.byteLength;
  }

  /** Returns the slot, or `NONE`. Does not count as a use. */
  find(high: number, low: number): number {
    return this.#table.find(high, low);
  }

  markUsed(slot: number): void {
    this.#sieve.markUsed(slot);
  }

  /** Returns the new slot. The hash must not be in the index. */
  insert(high: number, low: number, weight: number): number {
    const slot = this.#table.insert(high, low);
    if (slot >= this.#weights.length)
      this.#weights = grown(this.#weights, new Float64Array(Math.max(this.#weights.length * 2, slot + 1)));
    this.#weights[slot] = weight;
    this.#sieve.add(slot);
    return slot;
  }

  weightOf(slot: number): number {
    return this.#weights[slot] ?? 0;
  }

  delete(slot: number): void {
    this.#sieve.remove(slot);
    this.#table.delete(slot);
  }

  /** Returns the slot to evict next, without removing it; `NONE` if there is none. */
  victim(): number {
    return this.#sieve.victim();
  }
}
