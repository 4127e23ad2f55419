/**
 * A set of keys in two bytes each: a cuckoo filter of 16 bits of each hash. It may take a key for one of the set (about one in
 * ten thousand), and two keys for one, so that deleting one deletes the other.
 */

const SLOTS_PER_BUCKET = 4;
/** Share of the slots that is meant to be used; above some 95 % a new key takes many moves. */
const MAX_LOAD = 0.9;
const MAX_MOVES = 500;
/** A filter with fewer buckets often has only one for a key. */
const MIN_BUCKETS = 64;
const EMPTY = 0;

export class KeyFilter {
  readonly #slots: Uint16Array;
  readonly #mask: number;
  #isFull = false;

  constructor(maxKeys: number) {
    const buckets = 2 ** Math.ceil(Math.log2(Math.max(MIN_BUCKETS, maxKeys / SLOTS_PER_BUCKET / MAX_LOAD)));
    this.#slots = new Uint16Array(buckets * SLOTS_PER_BUCKET);
    this.#mask = buckets - 1;
  }

  /** A key did not find room: from then on the set is not known. */
  get isFull(): boolean {
    return this.#isFull;
  }

  has(high: number, low: number): boolean {
    const mark = markOf(high);
    const bucket = low & this.#mask;
    return this.#slotIn(bucket, mark) !== -1 || this.#slotIn(this.#other(bucket, mark), mark) !== -1;
  }

  /** Adding a key again changes nothing. */
  add(high: number, low: number): void {
    if (this.#isFull || this.has(high, low)) return;
    let mark = markOf(high);
    let bucket = low & this.#mask;
    if (this.#place(bucket, mark)) return;
    for (let moves = 0; moves < MAX_MOVES; moves++) {
      bucket = this.#other(bucket, mark);
      if (this.#place(bucket, mark)) return;
      // One of the bucket makes room, and moves to its own other bucket.
      const slot = bucket * SLOTS_PER_BUCKET + ((mark + moves) % SLOTS_PER_BUCKET);
      const moved = this.#slots[slot] ?? EMPTY;
      this.#slots[slot] = mark;
      mark = moved;
    }
    this.#isFull = true;
  }

  delete(high: number, low: number): void {
    const mark = markOf(high);
    const bucket = low & this.#mask;
    for (const slot of [this.#slotIn(bucket, mark), this.#slotIn(this.#other(bucket, mark), mark)])
      if (slot !== -1) this.#slots[slot] = EMPTY;
  }

  #place(bucket: number, mark: number): boolean {
    const slot = this.#slotIn(bucket, EMPTY);
    if (slot === -1) return false;
    this.#slots[slot] = mark;
    return true;
  }

  /** The place in the array, or -1. */
  #slotIn(bucket: number, mark: number): number {
    const end = (bucket + 1) * SLOTS_PER_BUCKET;
    for (let slot = end - SLOTS_PER_BUCKET; slot < end; slot++) if (this.#slots[slot] === mark) return slot;
    return -1;
  }

  /** The other of a mark's two buckets, from either of them. */
  #other(bucket: number, mark: number): number {
    return (bucket ^ Math.imul(mark, 0x5bd1e995)) & this.#mask;
  }
}

function markOf(high: number): number {
  return high & 0xffff || 1;
}
