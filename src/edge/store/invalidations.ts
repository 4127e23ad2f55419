/**
 * When keys were invalidated, kept until no older response can be on its way any more. What is forgotten for room raises
 * a floor: what was requested up to there is not stored any more, since nobody could tell whether it may be.
 */

/** Some 10 MB. */
const MAX_KEYS = 100_000;

export class Invalidations {
  readonly #maxKeys: number;
  /** Instants in the order of the latest invalidation. */
  readonly #instants = new Map<string, number>();
  #floor = Number.NEGATIVE_INFINITY;

  constructor(maxKeys = MAX_KEYS) {
    this.#maxKeys = maxKeys;
  }

  at(key: string): number | undefined {
    return this.#instants.get(key);
  }

  /** The later instant stands. */
  record(key: string, at: number): void {
    const latest = Math.max(at, this.#instants.get(key) ?? at);
    this.#instants.delete(key);
    this.#instants.set(key, latest);
    for (const [oldest, instant] of this.#instants) {
      if (this.#instants.size <= this.#maxKeys) return;
      this.#instants.delete(oldest);
      this.#floor = Math.max(this.#floor, instant);
    }
  }

  /** Whether a response of this request comes too late to be stored. */
  refuses(key: string, requestAt: number): boolean {
    return requestAt <= this.#floor || requestAt <= (this.#instants.get(key) ?? Number.NEGATIVE_INFINITY);
  }
}
