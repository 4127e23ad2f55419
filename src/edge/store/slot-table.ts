/**
 * 64-bit hashes to small numbers ("slots"), which index whatever else is known of an entry. Typed arrays: a million entries
 * cost a few tens of bytes each and nothing for the garbage collector to walk.
 */

const FIRST_CAPACITY = 64;
/** No slot. */
export const NONE = -1;

export class SlotTable {
  #high = new Uint32Array(FIRST_CAPACITY);
  #low = new Uint32Array(FIRST_CAPACITY);
  /** Free slots form a list through this. */
  #nextFree = new Int32Array(FIRST_CAPACITY);
  #firstFree = NONE;
  #usedSlots = 0;
  /** Twice the slots; linear probing, so that half of the places are always empty. */
  #places = new Int32Array(FIRST_CAPACITY * 2).fill(NONE);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** What the table itself takes. */
  get bytes(): number {
    return this.#high.byteLength * 3 + this.#places.byteLength;
  }

  high(slot: number): number {
    return this.#high[slot] ?? 0;
  }

  low(slot: number): number {
    return this.#low[slot] ?? 0;
  }

  find(high: number, low: number): number {
    for (let place = this.#home(low); ; place = this.#after(place)) {
      const slot = this.#places[place] ?? NONE;
      if (slot === NONE) return NONE;
      if (this.#low[slot] === low && this.#high[slot] === high) return slot;
    }
  }

  /** Only for a hash that is not in the table. */
  insert(high: number, low: number): number {
    const slot = this.#takeSlot();
    this.#high[slot] = high;
    this.#low[slot] = low;
    this.#place(slot);
    this.#size += 1;
    return slot;
  }

  delete(slot: number): void {
    let hole = this.#home(this.low(slot));
    while (this.#places[hole] !== slot) hole = this.#after(hole);
    // Those behind move up, as far as that brings them nearer to their home: no look-up may end at the hole too early.
    for (let place = this.#after(hole); ; place = this.#after(place)) {
      const moved = this.#places[place] ?? NONE;
      if (moved === NONE) break;
      const home = this.#home(this.low(moved));
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
    // It grows only when no slot is free.
    for (let slot = 0; slot < this.#usedSlots; slot++) this.#place(slot);
  }

  #place(slot: number): void {
    let place = this.#home(this.low(slot));
    while (this.#places[place] !== NONE) place = this.#after(place);
    this.#places[place] = slot;
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

/** The larger array, with the smaller one's values at its beginning. */
export function grown<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from);
  return to;
}
