/**
 * Finds the most frequent values in one pass with a bounded number of counters: the Space-Saving algorithm (Metwally,
 * Agrawal, El Abbadi 2005). Within one pass, a count is never too small, and too large by at most the requests divided
 * by the number of counters. Bytes are those since the value last got its counter.
 */
export interface HeavyHitter {
  readonly value: string;
  requests: number;
  bytes: number;
}

export class HeavyHitters {
  readonly #max: number;
  readonly #counters = new Map<string, HeavyHitter>();
  /**
   * Entries that had the lowest count when they were collected. Counts only grow, so no other is lower while one of
   * these still has that count.
   */
  #least: HeavyHitter[] = [];
  #leastRequests = 0;

  constructor(maxCounters: number) {
    this.#max = maxCounters;
  }

  /** `isContinued`: adds only bytes, to a request that was counted before. */
  add(value: string, bytes: number, isContinued = false): void {
    const known = this.#counters.get(value);
    if (known !== undefined) {
      if (!isContinued) known.requests++;
      known.bytes += bytes;
    } else if (this.#counters.size < this.#max) {
      this.#counters.set(value, { value, requests: 1, bytes });
    } else {
      // A new value takes the counter of the least frequent one, and its count.
      const least = this.#takeLeast();
      this.#counters.delete(least.value);
      this.#counters.set(value, { value, requests: least.requests + 1, bytes });
    }
  }

  /** Returns the most frequent values first. */
  top(limit: number): HeavyHitter[] {
    return [...this.#counters.values()].sort((a, b) => b.requests - a.requests || b.bytes - a.bytes).slice(0, limit);
  }

  #takeLeast(): HeavyHitter {
    for (;;) {
      const one = this.#least.pop() ?? this.#findLeast();
      if (one.requests === this.#leastRequests) return one;
    }
  }

  /** Collects all entries with the lowest count, for many calls of `#takeLeast`. */
  #findLeast(): HeavyHitter {
    const counters = [...this.#counters.values()];
    this.#leastRequests = counters.reduce((least, { requests }) => Math.min(least, requests), Number.POSITIVE_INFINITY);
    this.#least = counters.filter(({ requests }) => requests === this.#leastRequests);
    const one = this.#least.pop();
    if (one === undefined) throw new RangeError('expected at least one counter');
    return one;
  }
}
