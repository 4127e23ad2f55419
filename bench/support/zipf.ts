/** Traces of key numbers: popular keys by Zipf's law, with scans of keys that nobody asks for twice between them. */

export interface TraceOptions {
  readonly keys: number;
  readonly requests: number;
  /** Zipf's exponent. */
  readonly skew: number;
  /** Part of the requests that belong to scans. */
  readonly scanShare: number;
  readonly seed: number;
}

/** Requests of one scan, one after another. */
const SCAN_LENGTH = 10_000;

export function zipfTrace({ keys, requests, skew, scanShare, seed }: TraceOptions): Uint32Array {
  const random = createRandom(seed);
  const sums = new Float64Array(keys);
  let sum = 0;
  for (let rank = 0; rank < keys; rank++) sums[rank] = sum += 1 / (rank + 1) ** skew;
  const trace = new Uint32Array(requests);
  const betweenScans = scanShare === 0 ? Number.POSITIVE_INFINITY : SCAN_LENGTH / scanShare - SCAN_LENGTH;
  let untilScan = betweenScans;
  let nextScanned = keys;
  for (let at = 0; at < requests; ) {
    if (untilScan <= 0) {
      for (let i = 0; i < SCAN_LENGTH && at < requests; i++) trace[at++] = nextScanned++;
      untilScan = betweenScans;
    } else {
      trace[at++] = rankOf(sums, random() * sum);
      untilScan -= 1;
    }
  }
  return trace;
}

/** Mulberry32. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function rankOf(sums: Float64Array, value: number): number {
  let low = 0;
  let high = sums.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sums[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
