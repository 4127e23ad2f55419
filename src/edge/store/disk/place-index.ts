/**
 * Index of the place of each key's entry: a hash table with open addressing, 16 bytes per place. It consists of many
 * parts that grow separately, so that growth never blocks the worker for long.
 */

const PARTS = 1024;
const FIRST_PLACES = 8;
/**
 * Words of a place: two halves of the hash, the offset, and a word with slot, flags and length. A zero in the last word
 * marks a free place.
 */
const WORDS = 4;
const MAX_LOAD = 0.8;
const LENGTH_BITS = 20;
const FILES_BIT = 2 ** LENGTH_BITS;
const HIDES_BIT = FILES_BIT * 2;
const SLOT_UNIT = HIDES_BIT * 2;
/** Limit of an entry's length. */
export const MAX_ENTRY_BYTES = FILES_BIT - 1;
/** Highest slot number; the lowest is 1. */
export const MAX_SLOT = 2 ** 32 / SLOT_UNIT - 1;

export interface Place {
  /** Slot of the segment, 1 to `MAX_SLOT`. */
  readonly slot: number;
  /** Offset in the segment, below 4 GiB. */
  readonly offset: number;
  /** Size of the entry, at most `MAX_ENTRY_BYTES`; 0 if the key was removed. */
  readonly length: number;
  /** Whether the entry has bodies in their own files. */
  readonly hasFiles: boolean;
  /** Whether other segments may contain older entries of the key. */
  readonly hidesOlder: boolean;
}

export class PlaceIndex {
  readonly #parts = Array.from({ length: PARTS }, () => new Uint32Array(FIRST_PLACES * WORDS));
  readonly #used = new Uint32Array(PARTS);
  #sweptParts = 0;

  get(high: number, low: number): Place | undefined {
    const part = this.#partOf(high);
    const at = locate(part, high, low);
    const bits = part[at + 3] ?? 0;
    if (bits === 0) return undefined;
    return {
      slot: Math.floor(bits / SLOT_UNIT),
      offset: part[at + 2] ?? 0,
      length: bits & MAX_ENTRY_BYTES,
      hasFiles: (bits & FILES_BIT) !== 0,
      hidesOlder: (bits & HIDES_BIT) !== 0,
    };
  }

  set(high: number, low: number, { slot, offset, length, hasFiles, hidesOlder }: Place): void {
    const number = high % PARTS;
    let part = this.#partOf(high);
    if (((this.#used[number] ?? 0) + 1) * WORDS > part.length * MAX_LOAD) {
      part = this.#rebuild(number, Math.ceil((part.length / WORDS) * 1.5), () => true);
    }
    const at = locate(part, high, low);
    if (part[at + 3] === 0) this.#used[number] = (this.#used[number] ?? 0) + 1;
    part[at] = high;
    part[at + 1] = low;
    part[at + 2] = offset;
    part[at + 3] = slot * SLOT_UNIT + (hidesOlder ? HIDES_BIT : 0) + (hasFiles ? FILES_BIT : 0) + length;
  }

  delete(high: number, low: number): void {
    const part = this.#partOf(high);
    let hole = locate(part, high, low);
    if (part[hole + 3] === 0) return;
    this.#used[high % PARTS] = (this.#used[high % PARTS] ?? 0) - 1;
    // Later places of the run move up if that brings them closer to their home, so that no look-up ends at the hole too
    // early.
    for (let at = after(part, hole); part[at + 3] !== 0; at = after(part, at)) {
      if (distance(part, homeOf(part, part[at + 1] ?? 0), at) < distance(part, hole, at)) continue;
      part.copyWithin(hole, at, at + WORDS);
      hole = at;
    }
    part[hole + 3] = 0;
  }

  /** Drops the keys of slots that are not kept, in the next `parts` parts. Returns the number of parts swept so far. */
  sweep(parts: number, isKept: (slot: number) => boolean): number {
    for (let i = 0; i < parts; i++) {
      const number = this.#sweptParts++ % PARTS;
      const part = this.#parts[number];
      if (part !== undefined && hasOther(part, isKept)) this.#rebuild(number, part.length / WORDS, isKept);
    }
    return this.#sweptParts;
  }

  #partOf(high: number): Uint32Array {
    const part = this.#parts[high % PARTS];
    if (part === undefined) throw new Error('every part is there');
    return part;
  }

  #rebuild(number: number, places: number, isKept: (slot: number) => boolean): Uint32Array {
    const old = this.#partOf(number);
    const part = new Uint32Array(places * WORDS);
    let used = 0;
    for (let at = 0; at < old.length; at += WORDS) {
      const bits = old[at + 3] ?? 0;
      if (bits === 0 || !isKept(Math.floor(bits / SLOT_UNIT))) continue;
      part.set(old.subarray(at, at + WORDS), locate(part, old[at] ?? 0, old[at + 1] ?? 0));
      used += 1;
    }
    this.#parts[number] = part;
    this.#used[number] = used;
    return part;
  }
}

/** Number of parts after which `sweep` has visited all keys once. */
export const SWEEP_PARTS = PARTS;

/** Returns the offset of the key's place, or of the free place for it. */
function locate(part: Uint32Array, high: number, low: number): number {
  for (let at = homeOf(part, low); ; at = after(part, at)) {
    if (part[at + 3] === 0 || (part[at + 1] === low && part[at] === high)) return at;
  }
}

function hasOther(part: Uint32Array, isKept: (slot: number) => boolean): boolean {
  for (let at = 3; at < part.length; at += WORDS) {
    const bits = part[at] ?? 0;
    if (bits !== 0 && !isKept(Math.floor(bits / SLOT_UNIT))) return true;
  }
  return false;
}

function homeOf(part: Uint32Array, low: number): number {
  return Math.floor((low / 2 ** 32) * (part.length / WORDS)) * WORDS;
}

function after(part: Uint32Array, at: number): number {
  return at + WORDS === part.length ? 0 : at + WORDS;
}

function distance(part: Uint32Array, from: number, to: number): number {
  return (to - from + part.length) % part.length;
}
