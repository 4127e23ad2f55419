/**
 * How often a token may be used, and what answers say of it: draft-ietf-httpapi-ratelimit-headers, whose quota is the
 * burst and whose window is the time in which all of it comes back.
 */
import type { Clock } from '#lib/clock.ts';
import { TokenBuckets } from '#lib/token-bucket.ts';
import { shareOfLimit } from '#model/control.ts';
import { refuseEmpty } from '../auth/failed-tokens.ts';

/** Tokens whose rate is remembered; a forgotten one begins with its full burst. */
const MAX_RATED_TOKENS = 50_000;

export interface RateOptions {
  readonly tokenRatePerSecond: number;
  readonly tokenRateBurst: number;
  /** Number of controls that share the limits, each of which counts for itself. */
  readonly controls: () => number;
  /** Clock for rates: only goes forward. */
  readonly steadyClock: Clock;
}

interface TokenRates {
  /** Throws `ServiceError` if the token is used too often. */
  take(tokenId: number): void;
  /** Header fields of an answer to the token. */
  fieldsOf(tokenId: number): Readonly<Record<string, string>>;
}

export function createRates({ tokenRatePerSecond, tokenRateBurst, controls, steadyClock }: RateOptions): TokenRates {
  const limits = {
    get perSecond() {
      return shareOfLimit(tokenRatePerSecond, controls());
    },
    get burst() {
      return shareOfLimit(tokenRateBurst, controls());
    },
    maxKeys: MAX_RATED_TOKENS,
  };
  const buckets = new TokenBuckets(limits);
  return {
    take: (tokenId) => refuseEmpty(buckets.take(String(tokenId), steadyClock()), 'tooManyRequests'),
    fieldsOf(tokenId) {
      const { perSecond, burst } = limits;
      const left = buckets.available(String(tokenId), steadyClock());
      return {
        'ratelimit-policy': `"token";q=${Math.floor(burst)};w=${Math.ceil(burst / perSecond)}`,
        ratelimit: `"token";r=${left};t=${Math.ceil((burst - left) / perSecond)}`,
      };
    },
  };
}
