/** Counts of durations in buckets, kept in plain numbers: counting one allocates nothing and looks up no labels. */

/** Upper bounds of the buckets in seconds, from an answer out of memory to a slow origin. */
export const DURATION_BOUNDS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

const BOUNDS_MS = DURATION_BOUNDS_SECONDS.map((seconds) => seconds * 1000);

export class BucketCounts {
  /** Count of each bucket alone; the last one has what is above every bound. */
  readonly counts = new Float64Array(BOUNDS_MS.length + 1);
  #sumMs = 0;

  get sumSeconds(): number {
    return this.#sumMs / 1000;
  }

  count(durationMs: number, times = 1): void {
    let index = 0;
    while (durationMs > (BOUNDS_MS[index] ?? Number.POSITIVE_INFINITY)) index++;
    this.counts[index] = (this.counts[index] ?? 0) + times;
    this.#sumMs += durationMs * times;
  }
}
