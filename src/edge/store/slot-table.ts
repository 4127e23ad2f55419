/**
 * Maps 64-bit hashes to small numbers ("slots"), which index all other data of an entry. Typed arrays: a million
 * entries cost a few tens of bytes each and nothing for the garbage collector to traverse.
 */

const FIRST_CAPACITY = 64;
/** Stands for no slot. */
export const NONE = -1;

export class SlotTable {
  #high = new Uint32Array(FIRST_CAPACITY);
  #low = new Uint32Array(FIRST_CAPACITY);
  /** Links of the list of free slots. */
  #nextFree = new Int32Array(FIRST_CAPACITY);
  #firstFree = NONE;
  #usedSlots = 0;
  /** Hash table with linear probing and twice as many places as slots, so at least half are empty. */
  #places = new Int32Array(FIRST_CAPACITY * 2).fill(NONE);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Memory of the table itself. */
  get bytes(): number {
    return this.#high.byteLength * 3 + this.#places.byteLength;
  }

  find(high: number, low: number): number {
    for (let place = this.#home(low); ; place = this.#after(place)) {
      const slot = this.#places[place] ?? NONE;
      if (slot === NONE) return NONE;
      if (this.#low[slot] === low && this.#high[slot] === high) return slot;
    }
  }

  /** Returns the new slot. The hash must not be in the table. */
  insert(high: number, low: number): number {
    const slot = this.#takeSlot();
    this.#high[slot] = high;
    this.#low[slot] = low;
    this.#place(slot);
    this.#size += 1;
    return slot;
  }

  delete(slot: number): void {
    let hole = this.#homeOf(slot);
    while (this.#places[hole] !== slot) hole = this.#after(hole);
    // Later places of the run move up if that brings them closer to their home, so that no look-up ends at the hole too
    // early.
    for (let place = this.#after(hole); ; place = this.#after(place)) {
      const moved = this.#places[place] ?? NONE;
      if (moved === NONE) break;
      const home = this.#homeOf(moved);
      if (this.#distance(home, place) < this.#distance(hole, place)) continue;
      this.#places[hole] = moved;
      hole = place;
    }
    this.#places[hole] = NONE;
    this.#nextFree[slot] = this.#firstFree;
    this.#firstFree = slot;
    this.#size -= 1;
  }

  #takeSlot(): number {
    const free = this.#firstFree;
    if (free !== NONE) {
      this.#firstFree = this.#nextFree[free] ?? NONE;
      return free;
    }
    if (this.#usedSlots === this.#high.length) this.#grow();
    return this.#usedSlots++;
  }

  #grow(): void {
    const capacity = this.#high.length * 2;
    this.#high = grown(this.#high, new Uint32Array(capacity));
    this.#low = grown(this.#low, new Uint32Array(capacity));
    this.#nextFree = grown(this.#nextFree, new Int32Array(capacity));
    this.#places = new Int32Array(capacity * 2).fill(NONE);
    // All slots are in use, since it grows only then.
    for (let slot = 0; slot < this.#usedSlots; slot++) this.#place(slot);
  }

  #place(slot: number): void {
    let place = this.#homeOf(slot);
    while (this.#places[place] !== NONE) place = this.#after(place);
    this.#places[place] = slot;
  }

  #homeOf(slot: number): number {
    return this.#home(this.#low[slot] ?? 0);
  }

  #home(low: number): number {
    return low & (this.#places.length - 1);
  }

  #after(place: number): number {
    return (place + 1) & (this.#places.length - 1);
  }

  #distance(from: number, to: number): number {
    return (to - from) & (this.#places.length - 1);
  }
}

/** Copies a smaller array to the beginning of a larger one. Returns the larger one. */
export function grown<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from);
  return to;
}
