/**
 * What an edge has counted in the last minutes, in steps of ten seconds: finer than what it reports, in memory, for those
 * who watch. docs/decisions/0706
 */
import { MINUTE_MS } from '#lib/durations.ts';
import { addCounters, type Counters, type MinuteCounters, noCounters } from './counters.ts';

export const STEP_MS = 10_000;
/** Steps that can be asked for. */
export const RECENT_STEPS = 30;
/** Steps that are kept: one has begun, and a question takes some time to arrive. */
const KEPT_STEPS = RECENT_STEPS + 6;
const STEPS_OF_MINUTE = MINUTE_MS / STEP_MS;
/** Limit of sums by domain and step. */
const MAX_SUMS = 50_000;

export interface RecentSums {
  /** First of the steps that is known whole: what was counted before this process began is not. */
  readonly since: number;
  /** One for each step that was asked for, in their order. */
  readonly sums: readonly Readonly<Counters>[];
}

export class RecentCounts {
  readonly #since: number;
  readonly #steps = new Map<number, Map<number, Counters>>();
  #size = 0;
  /** Last step in which a domain had no room. */
  #cutAt = Number.NEGATIVE_INFINITY;

  constructor(now: number) {
    this.#since = Math.floor(now / STEP_MS) + 1;
  }

  /** Takes what was counted since the last time: it belongs to the step of `now`, or to its minute's nearest. */
  add(counts: readonly MinuteCounters[], now: number): void {
    const present = Math.floor(now / STEP_MS);
    this.#forget(present - KEPT_STEPS);
    for (const { minute, domainId, ...counters } of counts) {
      const first = minute * STEPS_OF_MINUTE;
      const step = Math.min(Math.max(present, first), first + STEPS_OF_MINUTE - 1);
      if (step > present - KEPT_STEPS) this.#add(step, domainId, counters);
    }
  }

  /** Sums of these domains in the steps up to `last`. `undefined`: not everything could be kept. */
  sumUp(domainIds: readonly number[], last: number): RecentSums | undefined {
    const first = last - RECENT_STEPS + 1;
    if (this.#cutAt >= first) return undefined;
    const sums = Array.from({ length: RECENT_STEPS }, (_, n) => {
      const domains = this.#steps.get(first + n);
      const sum = noCounters();
      for (const id of domains === undefined ? [] : domainIds) {
        const counters = domains?.get(id);
        if (counters !== undefined) addCounters(sum, counters);
      }
      return sum;
    });
    return { since: this.#since, sums };
  }

  #add(step: number, domainId: number, more: Readonly<Counters>): void {
    const domains = this.#steps.get(step) ?? new Map<number, Counters>();
    const known = domains.get(domainId);
    if (known !== undefined) addCounters(known, more);
    else if (this.#size >= MAX_SUMS) this.#cutAt = Math.max(this.#cutAt, step);
    else {
      this.#steps.set(step, domains);
      domains.set(domainId, { ...more });
      this.#size += 1;
    }
  }

  #forget(upTo: number): void {
    for (const [step, domains] of this.#steps) {
      if (step > upTo) continue;
      this.#steps.delete(step);
      this.#size -= domains.size;
    }
  }
}
