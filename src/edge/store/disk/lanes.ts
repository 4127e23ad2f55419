/** Work on disk: one piece at a time per key, in order, and not too many keys at once. */

/** The pool of threads that works on files has four; more at once only queue there. */
const MAX_AT_ONCE = 16;

export class Lanes {
  readonly #lanes = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  readonly #onProblem: (error: unknown) => void;

  constructor(onProblem: (error: unknown) => void) {
    this.#onProblem = onProblem;
  }

  /** Keys with work under way. */
  get size(): number {
    return this.#lanes.size;
  }

  /** Whether work is under way for the key. */
  has(key: string): boolean {
    return this.#lanes.has(key);
  }

  /** Whether what is under way for the key ends so soon. */
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
