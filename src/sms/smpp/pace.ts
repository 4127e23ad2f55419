/** How many parts a carrier may have at once: the connector's window, and less while the carrier says that it is too much. */

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

/**
 * Throttling: a refusal for too high a rate pauses the connector and halves its window; every other answer restores a
 * little.
 */
export class Pace {
  readonly #window: number;
  #limit: number;
  #pauseMs = FIRST_PAUSE_MS;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(window: number) {
    this.#window = window;
    this.#limit = window;
  }

  isPaused(now: number): boolean {
    return now < this.#pausedUntil;
  }

  room(inFlight: number, now: number): number {
    return this.isPaused(now) ? 0 : Math.max(0, Math.floor(this.#limit) - inFlight);
  }

  /** How long the pause is that this begins; `undefined`: there is one already, and this answers what went out before it. */
  throttled(now: number): number | undefined {
    if (this.isPaused(now)) return undefined;
    const pauseMs = this.#pauseMs;
    this.#pausedUntil = now + pauseMs;
    this.#pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
    this.#limit = Math.max(1, this.#limit / 2);
    return pauseMs;
  }

  taken(): void {
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#limit = Math.min(this.#window, this.#limit + 1 / this.#limit);
  }
}
