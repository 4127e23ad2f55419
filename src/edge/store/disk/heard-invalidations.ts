/** When keys were invalidated, as a worker knows it: by itself, and by the others through the file of the directory. */
import { Invalidations } from '../invalidations.ts';
import type { KeyHash } from '../key-hash.ts';
import type { InvalidatedKey, SharedInvalidations } from './shared-invalidations.ts';

/** How soon an invalidation by another worker is seen. */
const NEWS_MS = 1;

export interface HeardInvalidationsOptions {
  /** `undefined`: the directory cannot be used. */
  readonly open: () => SharedInvalidations | undefined;
  readonly onProblem: (error: unknown) => void;
}

export class HeardInvalidations {
  readonly #options: HeardInvalidationsOptions;
  /** What the file has too, unless that has failed. */
  readonly #own = new Invalidations();
  #heardAt = Number.NEGATIVE_INFINITY;
  #onInvalidated: (key: InvalidatedKey) => void = () => undefined;

  constructor(options: HeardInvalidationsOptions) {
    this.#options = options;
  }

  /** Called by `hear` with what other workers have invalidated, at times with this worker's own too. */
  set onInvalidated(listener: (key: InvalidatedKey) => void) {
    this.#onInvalidated = listener;
  }

  record(hash: KeyHash, at: number): void {
    const { open, onProblem } = this.#options;
    this.#own.record(hash, at);
    try {
      open()?.record(hash, at);
    } catch (error) {
      onProblem(error); // this worker knows it, and the key's file goes
    }
  }

  /** Learns of other workers' invalidations, at most once a millisecond. False: nobody can tell what they are. */
  hear(): boolean {
    const now = performance.now();
    if (now - this.#heardAt < NEWS_MS) return true;
    const { open, onProblem } = this.#options;
    try {
      for (const key of open()?.refresh() ?? []) this.#onInvalidated(key);
    } catch (error) {
      onProblem(error);
      return false;
    }
    this.#heardAt = now;
    return true;
  }

  /** When the key was invalidated last, by any worker: negative infinity for never, infinity if nobody can tell. */
  at(hash: KeyHash): number {
    const { open, onProblem } = this.#options;
    const own = this.#own.at(hash) ?? Number.NEGATIVE_INFINITY;
    try {
      if (this.hear()) return Math.max(own, open()?.at(hash) ?? Number.NEGATIVE_INFINITY);
    } catch (error) {
      onProblem(error);
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Whether a response of this request comes too late to be stored. */
  refuses(hash: KeyHash, requestAt: number): boolean {
    const floor = this.#options.open()?.floor ?? 0;
    return requestAt <= floor || requestAt <= this.at(hash) || this.#own.refuses(hash, requestAt);
  }
}
