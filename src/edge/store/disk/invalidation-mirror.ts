/**
 * Invalidations of a cache directory in the memory of a worker: the latest ones, each with the number under which the file has
 * it. It may have some that the file has forgotten since, which makes nothing wrong.
 */
import type { KeyHash } from '../key-hash.ts';

export class InvalidationMirror {
  readonly #maxKeys: number;
  /** Keys in the order of their numbers in the file; this worker's own may come earlier. */
  readonly #keys = new Map<KeyHash, { readonly at: number; readonly sequence: number }>();
  /** What the file has under this number or a higher one is here. */
  #completeFrom: number;
  /** The lowest number in the file, or less. */
  #oldest = 0;

  constructor(maxKeys: number, completeFrom: number) {
    this.#maxKeys = maxKeys;
    this.#completeFrom = completeFrom;
  }

  /** Whether a key that is not here is not in the file either. */
  get isComplete(): boolean {
    return this.#completeFrom <= this.#oldest;
  }

  at(hash: KeyHash): number | undefined {
    return this.#keys.get(hash)?.at;
  }

  /** All keys that are here. */
  *all(): Generator<{ readonly hash: KeyHash; readonly at: number }> {
    for (const [hash, { at }] of this.#keys) yield { hash, at };
  }

  /** The later instant stands. */
  set(hash: KeyHash, at: number, sequence: number): void {
    const known = this.#keys.get(hash);
    this.#oldest = Math.min(this.#oldest, sequence);
    this.#keys.delete(hash);
    this.#keys.set(hash, {
      at: Math.max(at, known?.at ?? at),
      sequence: Math.max(sequence, known?.sequence ?? sequence),
    });
    for (const [oldest, { sequence: dropped }] of this.#keys) {
      if (this.#keys.size <= this.#maxKeys) return;
      this.#keys.delete(oldest);
      this.#completeFrom = Math.max(this.#completeFrom, dropped + 1);
    }
  }

  /** Drops what the file no longer has: everything below its lowest number. */
  forgetBefore(oldest: number): void {
    this.#oldest = oldest;
    for (const [hash, { sequence }] of this.#keys) {
      if (sequence >= oldest) return;
      this.#keys.delete(hash);
    }
  }
}
