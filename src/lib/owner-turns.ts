/** Work that is done a little at a time, such as long reads: owners take turns, so that none of them keeps the others. */

export interface TurnLimits {
  /** Pieces of work that run at once, of different owners. */
  readonly atOnce: number;
  /** Pieces of one owner that wait. */
  readonly maxWaiting: number;
}

export class OwnerTurns<K> {
  readonly #limits: TurnLimits;
  readonly #running = new Set<K>();
  /** Begins each of the waiting pieces of an owner. An owner whose piece begins goes to the end. */
  readonly #waiting = new Map<K, readonly (() => void)[]>();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Runs `work` when it is the owner's turn: one piece of an owner at a time. `undefined`: too many of its pieces wait. */
  async run<T>(owner: K, work: () => Promise<T>): Promise<{ readonly done: T } | undefined> {
    if (!this.#mayBegin(owner)) {
      const own = this.#waiting.get(owner) ?? [];
      if (own.length >= this.#limits.maxWaiting) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.set(owner, [...own, resolve]);
      await promise; // its place was taken for it
    } else this.#running.add(owner);
    try {
      return { done: await work() };
    } finally {
      this.#running.delete(owner);
      this.#beginNext();
    }
  }

  #mayBegin(owner: K): boolean {
    return this.#running.size < this.#limits.atOnce && !this.#running.has(owner);
  }

  #beginNext(): void {
    for (const [owner, [next, ...others]] of this.#waiting) {
      if (!this.#mayBegin(owner)) continue;
      this.#waiting.delete(owner);
      if (others.length > 0) this.#waiting.set(owner, others);
      this.#running.add(owner);
      next?.();
      return;
    }
  }
}
