/** Runs work on the disk: for each key one piece at a time, in order, and for a limited number of keys at once. */

/** The thread pool for files has four threads; more work at once would only queue there. */
const MAX_AT_ONCE = 16;

export class Lanes {
  readonly #lanes = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  readonly #onProblem: (error: unknown) => void;

  constructor(onProblem: (error: unknown) => void) {
    this.#onProblem = onProblem;
  }

  /** Number of keys with work in flight. */
  get size(): number {
    return this.#lanes.size;
  }

  /** Whether work is in flight for the key. */
  has(key: string): boolean {
    return this.#lanes.has(key);
  }

  /** Resolves to whether the key's work in flight ends within `maxMs`. */
  async isIdleWithin(key: string, maxMs: number): Promise<boolean> {
    const underWay = this.#lanes.get(key);
    if (underWay === undefined) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), maxMs);
    void underWay.then(() => resolve(true)); // never rejects
    const isIdle = await promise;
    clearTimeout(timer);
    return isIdle;
  }

  run(key: string, work: () => Promise<void>): void {
    const before = this.#lanes.get(key) ?? Promise.resolve();
    const after = before.then(() => this.#runOne(work));
    this.#lanes.set(key, after);
    void after.then(() => {
      if (this.#lanes.get(key) === after) this.#lanes.delete(key);
    });
  }

  async settled(): Promise<void> {
    while (this.#lanes.size > 0) await Promise.all(this.#lanes.values());
  }

  async #runOne(work: () => Promise<void>): Promise<void> {
    if (this.#running >= MAX_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    try {
      await work();
    } catch (error) {
      this.#onProblem(error);
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }
}
