/** Work that waits for its turn: so much at once, and keys in turns, so that one with much to do holds up no other. */

export interface FairQueueOptions {
  readonly atOnce: number;
  /** Waiting, of one key and of all. */
  readonly perKey: number;
  readonly inAll: number;
}

export class FairQueue {
  readonly #options: FairQueueOptions;
  /** The keys that wait, the next one first, with their work. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #waitingInAll = 0;
  #running = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** Runs `work` when its turn comes; `undefined`: too much waits already. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> | undefined {
    const { atOnce, perKey, inAll } = this.#options;
    if (this.#running < atOnce) return this.#start(work);
    const own = this.#waiting.get(key) ?? [];
    if (own.length >= perKey || this.#waitingInAll >= inAll) return undefined;
    const turn = Promise.withResolvers<void>();
    own.push(turn.resolve);
    this.#waiting.set(key, own);
    this.#waitingInAll += 1;
    return turn.promise.then(() => this.#finish(work));
  }

  #start<T>(work: () => Promise<T>): Promise<T> {
    this.#running += 1;
    return this.#finish(work);
  }

  async #finish<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  /** Hands the place over to the next key, which then goes to the end. */
  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#running -= 1;
      return;
    }
    const [key, own] = first;
    const begin = own.shift();
    this.#waiting.delete(key);
    if (own.length > 0) this.#waiting.set(key, own);
    this.#waitingInAll -= 1;
    begin?.();
  }
}
