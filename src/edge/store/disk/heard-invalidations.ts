/** Times of invalidations as known to a worker: its own, and those of other workers from the directory's file. */
import { Invalidations } from '../invalidations.ts';
import type { KeyHash } from '../key-hash.ts';
import type { InvalidatedKey, SharedInvalidations } from './shared-invalidations.ts';

/** Delay after which another worker's invalidation is seen. */
const NEWS_MS = 1;
/** Time between attempts to write invalidations that the file did not take. */
const RETRY_MS = 1_000;
/** Limit of keys that wait for the file; the oldest beyond it are not passed on to other workers. */
const MAX_UNTOLD = 100_000;
/** Keys per write; takes some milliseconds. */
const TELL_AT_ONCE = 1_000;

export interface HeardInvalidationsOptions {
  /** Returns the directory's file; `undefined` if the directory cannot be used. */
  readonly open: () => SharedInvalidations | undefined;
  readonly onProblem: (error: unknown) => void;
}

export class HeardInvalidations {
  readonly #options: HeardInvalidationsOptions;
  /** This worker's own invalidations. The file has them too, except `#untold`. */
  readonly #own = new Invalidations();
  /** Own invalidations that the file does not have, since it was missing, removed or could not be written. */
  readonly #untold = new Map<KeyHash, number>();
  #tryAt = Number.NEGATIVE_INFINITY;
  /** The file that was read last. */
  #file: SharedInvalidations | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;
  #onInvalidated: (key: InvalidatedKey) => void = () => undefined;

  constructor(options: HeardInvalidationsOptions) {
    this.#options = options;
  }

  /** Called by `hear` for invalidations by other workers, and sometimes for this worker's own. */
  set onInvalidated(listener: (key: InvalidatedKey) => void) {
    this.#onInvalidated = listener;
  }

  record(hash: KeyHash, at: number): void {
    const { open, onProblem } = this.#options;
    this.#own.record(hash, at);
    try {
      const file = open();
      file?.record(hash, at);
      if (file?.isCurrent === true) return;
    } catch (error) {
      onProblem(error); // this worker knows it, and removes the key's entry
    }
    this.#untold.set(hash, Math.max(at, this.#untold.get(hash) ?? at));
    for (const oldest of this.#untold.keys()) {
      if (this.#untold.size <= MAX_UNTOLD) return;
      this.#untold.delete(oldest);
    }
  }

  /** Reads other workers' invalidations, at most once a millisecond. Returns false if they cannot be read. */
  hear(): boolean {
    const now = performance.now();
    if (now - this.#heardAt < NEWS_MS) return true;
    const { open, onProblem } = this.#options;
    try {
      const file = open();
      if (file !== undefined) this.#hearFrom(file, now);
    } catch (error) {
      onProblem(error);
      return false;
    }
    this.#heardAt = now;
    return true;
  }

  #hearFrom(file: SharedInvalidations, now: number): void {
    // A newly opened file may contain invalidations recorded while this worker had no file, or a removed one.
    const isNew = file !== this.#file;
    this.#file = file;
    if (this.#untold.size > 0 && now >= this.#tryAt) this.#tell(file, now);
    const news = file.refresh();
    for (const key of isNew ? file.known() : news) this.#onInvalidated(key);
  }

  /** Writes invalidations that the file did not take when they were recorded. */
  #tell(file: SharedInvalidations, now: number): void {
    try {
      const keys = [...this.#untold.entries().take(TELL_AT_ONCE)].map(([hash, at]) => ({ hash, at }));
      file.recordAll(keys);
      if (file.isCurrent) for (const { hash } of keys) this.#untold.delete(hash);
    } catch (error) {
      this.#tryAt = now + RETRY_MS;
      this.#options.onProblem(error);
    }
  }

  /** Returns when any worker last invalidated the key: negative infinity for never, infinity if this cannot be read. */
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

  /** Whether a response requested at `requestAt` must not be stored any more. */
  refuses(hash: KeyHash, requestAt: number): boolean {
    const floor = this.#options.open()?.floor ?? 0;
    return requestAt <= floor || requestAt <= this.at(hash) || this.#own.refuses(hash, requestAt);
  }
}
