/**
 * Times of invalidations, for a limited number of keys. Forgetting one raises a floor: responses requested at or before
 * it are not stored any more, since one of them may have been invalidated.
 */

/** Limit of keys; takes about 10 MB. */
const MAX_KEYS = 100_000;

export class Invalidations {
  readonly #maxKeys: number;
  /** Instants, in the order of the latest invalidation. */
  readonly #instants = new Map<string, number>();
  #floor = Number.NEGATIVE_INFINITY;

  constructor(maxKeys = MAX_KEYS) {
    this.#maxKeys = maxKeys;
  }

  at(key: string): number | undefined {
    // Most edges have none, and looking up a new string internalizes it.
    return this.#instants.size === 0 ? undefined : this.#instants.get(key);
  }

  /** Records an invalidation. If the key has one already, the later instant counts. */
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

  /** Whether a response requested at `requestAt` must not be stored any more. */
  refuses(key: string, requestAt: number): boolean {
    return requestAt <= this.#floor || requestAt <= (this.at(key) ?? Number.NEGATIVE_INFINITY);
  }
}
