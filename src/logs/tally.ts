/** Sums by domain and minute that wait to be written down. */
import { addCounters, type Counters, type MinuteCounters, noCounters } from './counters.ts';

/** Beyond so many sums, more minutes are not told apart: what cannot be written down must not fill the memory. */
const MAX_SUMS = 50_000;

export class Tally {
  #minutes = new Map<number, Map<number, Counters>>();
  #sums = 0;

  /** The sums to add to; stay inside the tally. */
  of(domainId: number, minute: number): Counters {
    let domains = this.#minutes.get(minute);
    if (domains === undefined) {
      domains = new Map();
      this.#minutes.set(minute, domains);
    }
    let counters = domains.get(domainId);
    if (counters === undefined) {
      counters = noCounters();
      domains.set(domainId, counters);
      this.#sums++;
    }
    return counters;
  }

  /** Sums that could not be written down yet. */
  add(counts: readonly MinuteCounters[]): void {
    for (const one of counts) {
      const minute = this.#sums < MAX_SUMS ? one.minute : (this.#minutes.keys().next().value ?? one.minute);
      addCounters(this.of(one.domainId, minute), one);
    }
  }

  /** Everything; the tally is empty then. */
  take(): MinuteCounters[] {
    const taken = this.#minutes;
    this.#minutes = new Map();
    this.#sums = 0;
    return [...taken].flatMap(([minute, domains]) =>
      [...domains].map(([domainId, counters]) => ({ domainId, minute, ...counters })),
    );
  }
}
