/** Limit of parts in flight on a connection: the connector's window, reduced while the carrier throttles. */

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

/**
 * Throttling: a refusal for too high a rate pauses the connector and halves its window; every other answer restores a
 * little.
 */
export class Pace {
  readonly #window: number;
  readonly #least: number;
  #limit: number;
  #pauseMs = FIRST_PAUSE_MS;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  /** `least`: the smallest window while the carrier throttles. */
  constructor(window: number, least: number) {
    this.#window = window;
    this.#least = Math.min(window, least);
    this.#limit = window;
  }

  isPaused(now: number): boolean {
    return now < this.#pausedUntil;
  }

  room(inFlight: number, now: number): number {
    return this.isPaused(now) ? 0 : Math.max(0, Math.floor(this.#limit) - inFlight);
  }

  /**
   * Begins a pause and returns its duration; `undefined` during a pause, when responses to earlier parts still arrive.
   */
  throttled(now: number): number | undefined {
    if (this.isPaused(now)) return undefined;
    const pauseMs = this.#pauseMs;
    this.#pausedUntil = now + pauseMs;
    this.#pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
    this.#limit = Math.max(this.#least, this.#limit / 2);
    return pauseMs;
  }

  taken(): void {
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#limit = Math.min(this.#window, this.#limit + 1 / this.#limit);
  }
}
