/**
 * The values that occur most, found in one pass with a bounded number of counters: the Space-Saving algorithm (Metwally,
 * Agrawal, El Abbadi 2005). Within one pass a count is never too
 * small, and too large by at most all requests over the number of counters; bytes are those since the value was last taken up.
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
   * Entries that had the lowest count when they were collected. Counts only grow, so none is lower while one of these
   * keeps that count.
   */
  #least: HeavyHitter[] = [];
  #leastRequests = 0;

  constructor(maxCounters: number) {
    this.#max = maxCounters;
  }

  /** `isContinued`: only more bytes of a request that was added before. */
  add(value: string, bytes: number, isContinued = false): void {
    const known = this.#counters.get(value);
    if (known !== undefined) {
      if (!isContinued) known.requests++;
      known.bytes += bytes;
    } else if (this.#counters.size < this.#max) {
      this.#counters.set(value, { value, requests: 1, bytes });
    } else {
      // A new value takes the place, and the count, of the one that occurs least.
      const least = this.#takeLeast();
      this.#counters.delete(least.value);
      this.#counters.set(value, { value, requests: least.requests + 1, bytes });
    }
  }

  /** The most frequent first. */
  top(limit: number): HeavyHitter[] {
    return [...this.#counters.values()].sort((a, b) => b.requests - a.requests || b.bytes - a.bytes).slice(0, limit);
  }

  #takeLeast(): HeavyHitter {
    for (;;) {
      const one = this.#least.pop() ?? this.#findLeast();
      if (one.requests === this.#leastRequests) return one;
    }
  }

  /** One look at all of them for many that are taken. */
  #findLeast(): HeavyHitter {
    const counters = [...this.#counters.values()];
    this.#leastRequests = counters.reduce((least, { requests }) => Math.min(least, requests), Number.POSITIVE_INFINITY);
    this.#least = counters.filter(({ requests }) => requests === this.#leastRequests);
    const one = this.#least.pop();
    if (one === undefined) throw new RangeError('expected at least one counter');
    return one;
  }
}
