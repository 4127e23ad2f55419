/** When keys were invalidated, as a worker knows it: by itself, and by the others through the file of the directory. */
import { Invalidations } from '../invalidations.ts';
import type { KeyHash } from '../key-hash.ts';
import type { InvalidatedKey, SharedInvalidations } from './shared-invalidations.ts';

/** How soon an invalidation by another worker is seen. */
const NEWS_MS = 1;
/** How soon another attempt is made to write what the file did not take. */
const RETRY_MS = 1_000;
/** Keys that wait for the file; beyond it the oldest ones are not told to other workers. */
const MAX_UNTOLD = 100_000;
/** Written at once: some milliseconds. */
const TELL_AT_ONCE = 1_000;

export interface HeardInvalidationsOptions {
  /** `undefined`: the directory cannot be used. */
  readonly open: () => SharedInvalidations | undefined;
  readonly onProblem: (error: unknown) => void;
}

export class HeardInvalidations {
  readonly #options: HeardInvalidationsOptions;
  /** What the file has too, unless that has failed. */
  readonly #own = new Invalidations();
  /** Own ones that the file does not have, since it was missing, had been removed or could not be written. */
  readonly #untold = new Map<KeyHash, number>();
  #tryAt = Number.NEGATIVE_INFINITY;
  /** The file that was heard last. */
  #file: SharedInvalidations | undefined;
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
      const file = open();
      file?.record(hash, at);
      if (file?.isCurrent === true) return;
    } catch (error) {
      onProblem(error); // this worker knows it, and the key's file goes
    }
    this.#untold.set(hash, Math.max(at, this.#untold.get(hash) ?? at));
    for (const oldest of this.#untold.keys()) {
      if (this.#untold.size <= MAX_UNTOLD) return;
      this.#untold.delete(oldest);
    }
  }

  /** Learns of other workers' invalidations, at most once a millisecond. False: nobody can tell what they are. */
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
    // A file that has just been opened may have what was recorded while this worker listened to none, or to one that is gone.
    const isNew = file !== this.#file;
    this.#file = file;
    if (this.#untold.size > 0 && now >= this.#tryAt) this.#tell(file, now);
    const news = file.refresh();
    for (const key of isNew ? file.known() : news) this.#onInvalidated(key);
  }

  /** Writes down what the file did not take when it was recorded. */
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
