/**
 * Chooses which entry to evict: SIEVE (Zhang and others, NSDI 2024). Entries are in order of insertion; a use only
 * marks an entry. A hand moves from the oldest to the newest, clears marks, and stops at the first unmarked entry.
 * Entries requested once are evicted soon, and a scan does not evict entries in use. docs/decisions/0070
 */
import { grown, NONE } from './slot-table.ts';

const FIRST_CAPACITY = 64;

export class Sieve {
  /** Links towards the newest. */
  #newer = new Int32Array(FIRST_CAPACITY);
  /** Links towards the oldest. */
  #older = new Int32Array(FIRST_CAPACITY);
  #isUsed = new Uint8Array(FIRST_CAPACITY);
  #newest = NONE;
  #oldest = NONE;
  #hand = NONE;

  get bytes(): number {
    return this.#newer.byteLength * 2 + this.#isUsed.byteLength;
  }

  add(slot: number): void {
    while (slot >= this.#newer.length) this.#grow();
    this.#isUsed[slot] = 0;
    this.#newer[slot] = NONE;
    this.#older[slot] = this.#newest;
    if (this.#newest === NONE) this.#oldest = slot;
    else this.#newer[this.#newest] = slot;
    this.#newest = slot;
  }

  markUsed(slot: number): void {
    this.#isUsed[slot] = 1;
  }

  remove(slot: number): void {
    const newer = this.#newer[slot] ?? NONE;
    const older = this.#older[slot] ?? NONE;
    if (this.#hand === slot) this.#hand = newer;
    if (newer === NONE) this.#newest = older;
    else this.#older[newer] = older;
    if (older === NONE) this.#oldest = newer;
    else this.#newer[older] = newer;
  }

  /** Returns the slot to evict, without removing it; `NONE` if there is none. Costs one step per cleared mark. */
  victim(): number {
    let slot = this.#hand === NONE ? this.#oldest : this.#hand;
    while (slot !== NONE && this.#isUsed[slot] === 1) {
      this.#isUsed[slot] = 0;
      const newer = this.#newer[slot] ?? NONE;
      slot = newer === NONE ? this.#oldest : newer;
    }
    this.#hand = slot;
    return slot;
  }

  #grow(): void {
    const capacity = this.#newer.length * 2;
    this.#newer = grown(this.#newer, new Int32Array(capacity));
    this.#older = grown(this.#older, new Int32Array(capacity));
    this.#isUsed = grown(this.#isUsed, new Uint8Array(capacity));
  }
}
