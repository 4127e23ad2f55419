/**
 * Token buckets by key: each holds up to `burst` tokens and gains `perSecond`. Only the most recently used keys are
 * kept; a forgotten key starts full again. `now` must be monotonic. docs/decisions/0010
 */
import { Lru } from './lru.ts';

export interface TokenBucketOptions {
  /** Read at each use: it may change, as `burst` may. */
  readonly perSecond: number;
  /** Size of the bucket, at least 1. */
  readonly burst: number;
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
  readonly #options: TokenBucketOptions;
  readonly #buckets: Lru<string, Bucket>;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#buckets = new Lru({ maxWeight: options.maxKeys });
  }

  /** Whole tokens that may be taken. */
  available(key: string, now: number): number {
    return Math.floor(this.#tokensOf(key, now));
  }

  /** Takes `count` tokens if they are available. */
  take(key: string, now: number, count = 1): Take {
    const tokens = this.#tokensOf(key, now);
    if (tokens < count) return this.#empty(tokens, count);
    this.#buckets.set(key, { tokens: tokens - count, at: now });
    return { kind: 'taken' };
  }

  /** Calls may be slightly out of order, which gives no advantage. */
  #tokensOf(key: string, now: number): number {
    const { perSecond, burst } = this.#options;
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return burst;
    return Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * perSecond);
  }

  #empty(tokens: number, count: number): Take {
    return { kind: 'empty', waitMs: Math.ceil(((count - tokens) / this.#options.perSecond) * 1000) };
  }
}
