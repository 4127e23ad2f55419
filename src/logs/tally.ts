/** Sums by domain and minute that wait to be recorded. */
import { addCounters, type Counters, type MinuteCounters, noCounters } from './counters.ts';

/** Limit of sums. Beyond it minutes are merged, so that sums that cannot be recorded do not fill the memory. */
const MAX_SUMS = 50_000;

export class Tally {
  #minutes = new Map<number, Map<number, Counters>>();
  #sums = 0;

  /** Returns the sums of a domain and minute, to be added to; they stay in the tally. */
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

  /** Adds sums that could not be recorded. */
  add(counts: readonly MinuteCounters[]): void {
    for (const one of counts) this.#add(one.domainId, one.minute, one);
  }

  #add(domainId: number, minute: number, counters: Counters): void {
    const kept = this.#sums < MAX_SUMS ? minute : (this.#minutes.keys().next().value ?? minute);
    addCounters(this.of(domainId, kept), counters);
  }

  /** Adds all sums of the other, and empties it. */
  merge(other: Tally): void {
    for (const [minute, domains] of other.#minutes) {
      const known = this.#minutes.get(minute);
      if (known === undefined && this.#sums + domains.size <= MAX_SUMS) {
        this.#minutes.set(minute, domains);
        this.#sums += domains.size;
      } else for (const [domainId, counters] of domains) this.#add(domainId, minute, counters);
    }
    other.#minutes = new Map();
    other.#sums = 0;
  }

  /** Returns all sums, and empties the tally. */
  take(): MinuteCounters[] {
    const taken = this.#minutes;
    this.#minutes = new Map();
    this.#sums = 0;
    return [...taken].flatMap(([minute, domains]) =>
      [...domains].map(([domainId, counters]) => ({ domainId, minute, ...counters })),
    );
  }
}
