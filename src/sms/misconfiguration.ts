/**
 * Whether a carrier refuses everything for the settings of its connector. Then the connector rests, so that no campaign
 * fails for a wrong number, and tries again with few parts until one is accepted. Pure. docs/decisions/0751
 */
import type { SubmitOutcome } from './carrier.ts';

/** Refusals in a row after which it is the connector and not the messages. */
const IN_A_ROW = 10;
const FIRST_REST_MS = 60_000;
const MAX_REST_MS = 15 * 60_000;

export class Misconfiguration {
  #inARow = 0;
  #status: string | undefined;
  #restMs = FIRST_REST_MS;
  #restsUntil = Number.NEGATIVE_INFINITY;

  /** The carrier's code; `undefined`: the settings are not known to be wrong. */
  get status(): string | undefined {
    return this.#status;
  }

  isResting(now: number): boolean {
    return now < this.#restsUntil;
  }

  /** Notes what became of a part. Returns the length of the rest that begins with it, if one does. */
  note(outcome: SubmitOutcome, now: number): number | undefined {
    if (outcome.kind === 'accepted') this.#forget();
    if (outcome.kind !== 'refused' || outcome.class !== 'misconfigured') return undefined;
    this.#inARow += 1;
    if (this.#inARow < IN_A_ROW || this.isResting(now)) return undefined;
    this.#status = outcome.status;
    const restMs = this.#restMs;
    this.#restsUntil = now + restMs;
    this.#restMs = Math.min(MAX_REST_MS, restMs * 2);
    return restMs;
  }

  #forget(): void {
    if (this.#inARow === 0) return;
    this.#inARow = 0;
    this.#status = undefined;
    this.#restMs = FIRST_REST_MS;
    this.#restsUntil = Number.NEGATIVE_INFINITY;
  }
}
