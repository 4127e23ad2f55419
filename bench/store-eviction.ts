/** Hit ratios of the ways to choose what leaves a cache, on generated traces, each entry weighing 1: docs/decisions/0070, docs/decisions/0562. */
import { WeightedIndex } from '../src/edge/store/weighted-index.ts';
import { Lru } from '../src/lib/lru.ts';
import { S3Fifo } from './support/s3-fifo.ts';
import { SegmentLog } from './support/segment-log.ts';
import { zipfTrace } from './support/zipf.ts';

const KEYS = 50_000;
const REQUESTS = 400_000;

interface Policy {
  access(key: number): boolean;
}

const policies: Readonly<Record<string, (capacity: number) => Policy>> = {
  LRU: (capacity) => {
    const lru = new Lru<number, boolean>({ maxWeight: capacity });
    return { access: (key) => lru.get(key) ?? !lru.set(key, true) };
  },
  SIEVE: (capacity) => {
    const index = new WeightedIndex();
    return {
      access: (key) => {
        const slot = index.find(0, key);
        if (slot >= 0) {
          index.markUsed(slot);
          return true;
        }
        if (index.size >= capacity) index.delete(index.victim());
        index.insert(0, key, 1);
        return false;
      },
    };
  },
  'S3-FIFO': (capacity) => new S3Fifo(capacity),
  segments: (capacity) => new SegmentLog(capacity),
};

console.log(
  'skew  scans  room   ' +
    Object.keys(policies)
      .map((name) => name.padStart(9))
      .join(''),
);
for (const skew of [0.8, 1]) {
  for (const scanShare of [0, 0.3]) {
    const trace = zipfTrace({ keys: KEYS, requests: REQUESTS, skew, scanShare, seed: 1 });
    for (const room of [0.01, 0.1]) {
      const ratios = Object.values(policies).map((create) => hitRatio(create(Math.floor(KEYS * room)), trace));
      const figures = ratios.map((ratio) => `${(ratio * 100).toFixed(1)} %`.padStart(9)).join('');
      console.log(
        `${skew.toFixed(1)}   ${String(scanShare * 100).padStart(3)} %  ${String(room * 100).padStart(3)} %  ${figures}`,
      );
    }
  }
}

/** Returns the hit ratio of the second half of the trace; the first half fills the cache. */
function hitRatio(policy: Policy, trace: Uint32Array): number {
  let hits = 0;
  for (const [at, key] of trace.entries()) if (policy.access(key) && at >= trace.length / 2) hits += 1;
  return hits / (trace.length / 2);
}
