/** Lets what others can cause at will make at most one line of the log a minute. */
import type { Timers } from '#lib/timers.ts';

const LINE_EVERY_MS = 60_000;

export class SeldomLog {
  readonly #timers: Pick<Timers, 'now'>;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(timers: Pick<Timers, 'now'>) {
    this.#timers = timers;
  }

  /** Calls `log` if a line is due. `count`: occurrences since the last line, this one included. */
  note(log: (count: number) => void): void {
    this.#count += 1;
    const now = this.#timers.now();
    if (now - this.#loggedAt < LINE_EVERY_MS) return;
    log(this.#count);
    this.#loggedAt = now;
    this.#count = 0;
  }
}
