/**
 * What a tab may ask of the service: so many calls a second and at once, and none for a while after the service asked
 * for a pause or could not be reached. A mistake in a page must not become a flood. docs/decisions/0659
 */

const MAX_PER_SECOND = 20;
const MAX_AT_ONCE = 4;
const MAX_PAUSE_MS = 30_000;

export interface BudgetClock {
  readonly now: () => number;
  readonly wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** A number from 0 to 1. */
  readonly random: () => number;
}

export class CallBudget {
  readonly #clock: BudgetClock;
  /** Settled when the last caller in the queue has been let through. */
  #queue: Promise<void> = Promise.resolve();
  #freed = Promise.withResolvers<void>();
  #inFlight = 0;
  #starts: readonly number[] = [];
  #pausedUntil = 0;
  #failures = 0;

  constructor(clock: BudgetClock) {
    this.#clock = clock;
  }

  /** Does `work` when it is its turn. Throws the signal's reason if that is aborted before. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const before = this.#queue;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue = promise;
    try {
      await before;
      await this.#admit(signal);
    } finally {
      resolve();
    }
    try {
      return await work();
    } finally {
      this.#inFlight -= 1;
      this.#freed.resolve();
      this.#freed = Promise.withResolvers();
    }
  }

  /** The service could not be reached: pauses of 1, 2, 4 … 30 s, so that many tabs do not come back at once. */
  noteFailure(): void {
    // One failure, of several calls that were in flight together.
    if (this.#clock.now() < this.#pausedUntil) return;
    this.#failures += 1;
    this.pause(backOffMs(this.#failures, this.#clock.random()));
  }

  noteSuccess(): void {
    this.#failures = 0;
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + Math.min(ms, MAX_PAUSE_MS));
  }

  /** A person asks to try again now. */
  resume(): void {
    this.#pausedUntil = 0;
  }

  async #admit(signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      signal?.throwIfAborted();
      const delay = delayBefore(this.#starts, this.#pausedUntil, this.#clock.now());
      if (this.#inFlight >= MAX_AT_ONCE) await this.#freed.promise;
      else if (delay > 0) await this.#clock.wait(Math.min(delay, 1000), signal);
      else break;
    }
    this.#inFlight += 1;
    this.#starts = [...this.#starts, this.#clock.now()].slice(-MAX_PER_SECOND);
  }
}

/** `starts`: of the last calls, oldest first. */
export function delayBefore(starts: readonly number[], pausedUntil: number, now: number): number {
  const oldest = starts.at(-MAX_PER_SECOND);
  return Math.max(0, pausedUntil - now, oldest === undefined ? 0 : oldest + 1000 - now);
}

export function backOffMs(failures: number, random: number): number {
  return Math.min(MAX_PAUSE_MS, 1000 * 2 ** (failures - 1)) * (0.5 + random / 2);
}
