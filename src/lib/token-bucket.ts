/**
 * Token buckets by key: each holds up to `burst` tokens and gains `perSecond`. Only the most recently used keys are
 * kept; a forgotten key starts full again. `now` must be monotonic. docs/decisions/0010
 */
import { Lru } from './lru.ts';

export interface Rate {
  readonly perSecond: number;
  /** Size of the bucket, at least 1. */
  readonly burst: number;
}

export interface TokenBucketOptions extends Rate {
  readonly maxKeys: number;
}

export type Take =
  | { readonly kind: 'taken' }
  /** Nothing was taken; the requested number is available after `waitMs`. */
  | { readonly kind: 'empty'; readonly waitMs: number };

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

export class TokenBuckets {
  readonly #rate: Rate;
  readonly #buckets: Lru<string, Bucket>;

  constructor({ maxKeys, ...rate }: TokenBucketOptions) {
    this.#rate = rate;
    this.#buckets = new Lru({ maxWeight: maxKeys });
  }

  /** Whole tokens that may be taken. `rate`: that of this key, where keys differ. */
  available(key: string, now: number, rate = this.#rate): number {
    return Math.floor(tokensOf(this.#buckets.get(key), now, rate));
  }

  /** Takes `count` tokens if they are available. `rate`: that of this key, where keys differ. */
  take(key: string, now: number, count = 1, rate = this.#rate): Take {
    const tokens = tokensOf(this.#buckets.get(key), now, rate);
    if (tokens < count) return { kind: 'empty', waitMs: Math.ceil(((count - tokens) / rate.perSecond) * 1000) };
    this.#buckets.set(key, { tokens: tokens - count, at: now });
    return { kind: 'taken' };
  }
}

/** Calls may be slightly out of order, which gives no advantage. */
function tokensOf(bucket: Bucket | undefined, now: number, { perSecond, burst }: Rate): number {
  if (bucket === undefined) return burst;
  return Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * perSecond);
}
