/** S3-FIFO (Yang and others, SOSP 2023), every entry weighing 1: what SIEVE was compared with. docs/decisions/0070 */

const SMALL_SHARE = 0.1;
const MAX_USES = 3;

export class S3Fifo {
  readonly #capacity: number;
  readonly #small = new Map<number, number>();
  readonly #main = new Map<number, number>();
  /** Keys that have left the small queue not long ago. */
  readonly #ghosts = new Set<number>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Whether it is there; if not, it is now. */
  access(key: number): boolean {
    for (const queue of [this.#small, this.#main]) {
      const uses = queue.get(key);
      if (uses === undefined) continue;
      queue.set(key, Math.min(MAX_USES, uses + 1));
      return true;
    }
    while (this.#small.size + this.#main.size >= this.#capacity) this.#evict();
    if (this.#ghosts.delete(key)) this.#main.set(key, 0);
    else this.#small.set(key, 0);
    return false;
  }

  #evict(): void {
    if (this.#small.size >= this.#capacity * SMALL_SHARE) this.#evictSmall();
    else this.#evictMain();
  }

  #evictSmall(): void {
    for (const [key, uses] of this.#small) {
      this.#small.delete(key);
      if (uses > 0) {
        this.#main.set(key, 0);
        continue;
      }
      this.#ghosts.add(key);
      const [oldest] = this.#ghosts;
      if (this.#ghosts.size > this.#capacity && oldest !== undefined) this.#ghosts.delete(oldest);
      return;
    }
    this.#evictMain();
  }

  #evictMain(): void {
    for (const [key, uses] of this.#main) {
      this.#main.delete(key);
      if (uses === 0) return;
      this.#main.set(key, uses - 1);
    }
  }
}
