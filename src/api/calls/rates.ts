/**
 * How often a token may be used, and what answers say of it: draft-ietf-httpapi-ratelimit-headers, whose quota is the
 * burst and whose window is the time in which all of it comes back.
 */
import type { Clock } from '#lib/clock.ts';
import { type Rate, TokenBuckets } from '#lib/token-bucket.ts';
import type { AccountLimits } from '#model/account.ts';
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

/** A token or a session; of a session without an account in view, only its own rate counts. */
interface Caller {
  readonly key: string;
  readonly accountId: number | undefined;
}

interface TokenRates {
  /** Throws `ServiceError` if the caller, or all of its account together, are too frequent. */
  take(caller: Caller, limits: AccountLimits): void;
  /** Throws `ServiceError` if too many calls of nobody come from the address. */
  takeAddress(address: string): void;
  /** Header fields of an answer to the caller. */
  fieldsOf(caller: Caller, limits: AccountLimits): Readonly<Record<string, string>>;
}

/** Calls before sign-in from an address: an office signs in behind one. */
const ADDRESS_RATE = { perSecond: 5, burst: 50, maxKeys: MAX_RATED_TOKENS };

/** Requests of an account at once, as a multiple of its requests a second. */
const BURST_SECONDS = 2;

export function createRates({ tokenRatePerSecond, tokenRateBurst, controls, steadyClock }: RateOptions): TokenRates {
  const share = (limit: number) => shareOfLimit(limit, controls());
  const ofToken = (): Rate => ({ perSecond: share(tokenRatePerSecond), burst: share(tokenRateBurst) });
  const ofAccount = (requestsPerSecond: number): Rate => {
    const perSecond = share(requestsPerSecond);
    return { perSecond, burst: BURST_SECONDS * perSecond };
  };
  const tokens = new TokenBuckets({ ...ofToken(), maxKeys: MAX_RATED_TOKENS });
  const accounts = new TokenBuckets({ ...ofAccount(1), maxKeys: MAX_RATED_TOKENS });
  const addresses = new TokenBuckets(ADDRESS_RATE);
  return {
    takeAddress: (address) => refuseEmpty(addresses.take(address, steadyClock()), 'tooManyRequests'),
    take({ key, accountId }, { requestsPerSecond }) {
      refuseEmpty(tokens.take(key, steadyClock(), 1, ofToken()), 'tooManyRequests');
      if (requestsPerSecond === undefined || accountId === undefined) return;
      const rate = ofAccount(requestsPerSecond);
      refuseEmpty(accounts.take(String(accountId), steadyClock(), 1, rate), 'tooManyRequests');
    },
    fieldsOf({ key, accountId }, { requestsPerSecond }) {
      const own = describe('token', ofToken(), (rate) => tokens.available(key, steadyClock(), rate));
      if (requestsPerSecond === undefined || accountId === undefined) return own;
      const left = (rate: Rate) => accounts.available(String(accountId), steadyClock(), rate);
      const all = describe('account', ofAccount(requestsPerSecond), left);
      return {
        'ratelimit-policy': `${own['ratelimit-policy']}, ${all['ratelimit-policy']}`,
        ratelimit: `${own.ratelimit}, ${all.ratelimit}`,
      };
    },
  };
}

function describe(name: string, rate: Rate, leftOf: (rate: Rate) => number) {
  const { perSecond, burst } = rate;
  const left = leftOf(rate);
  return {
    'ratelimit-policy': `"${name}";q=${Math.floor(burst)};w=${Math.ceil(burst / perSecond)}`,
    ratelimit: `"${name}";r=${left};t=${Math.ceil((burst - left) / perSecond)}`,
  };
}
