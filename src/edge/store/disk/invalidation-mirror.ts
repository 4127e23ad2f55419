/**
 * A worker's copy in memory of a cache directory's latest invalidations, each with its sequence number in the file. It
 * may contain some that the file has forgotten, which does no harm.
 */
import type { KeyHash } from '../key-hash.ts';

export class InvalidationMirror {
  readonly #maxKeys: number;
  /** Keys in order of their numbers in the file; this worker's own may come earlier. */
  readonly #keys = new Map<KeyHash, { readonly at: number; readonly sequence: number }>();
  /** Every key with at least this number in the file is here. */
  #completeFrom: number;
  /** A lower bound of the numbers in the file. */
  #oldest = 0;

  constructor(maxKeys: number, completeFrom: number) {
    this.#maxKeys = maxKeys;
    this.#completeFrom = completeFrom;
  }

  /** Whether a key that is missing here is missing in the file too. */
  get isComplete(): boolean {
    return this.#completeFrom <= this.#oldest;
  }

  at(hash: KeyHash): number | undefined {
    return this.#keys.size === 0 ? undefined : this.#keys.get(hash)?.at;
  }

  /** Returns all keys in the copy. */
  *all(): Generator<{ readonly hash: KeyHash; readonly at: number }> {
    for (const [hash, { at }] of this.#keys) yield { hash, at };
  }

  /** Records an invalidation. If the key has one already, the later instant counts. */
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

  /** Drops keys that the file no longer has: all below its lowest number. */
  forgetBefore(oldest: number): void {
    this.#oldest = oldest;
    for (const [hash, { sequence }] of this.#keys) {
      if (sequence >= oldest) return;
      this.#keys.delete(hash);
    }
  }
}
