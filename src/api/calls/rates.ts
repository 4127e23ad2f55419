/**
 * How often a token may be used, and what answers say of it: draft-ietf-httpapi-ratelimit-headers, whose quota is the
 * burst and whose window is the time in which all of it comes back.
 */
import type { Clock } from '#lib/clock.ts';
import { TokenBuckets } from '#lib/token-bucket.ts';
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
  const limits = {
    get perSecond() {
      return shareOfLimit(tokenRatePerSecond, controls());
    },
    get burst() {
      return shareOfLimit(tokenRateBurst, controls());
    },
    maxKeys: MAX_RATED_TOKENS,
  };
  const tokens = new TokenBuckets(limits);
  const ofAccount = { perSecond: 1, burst: 1, maxKeys: MAX_RATED_TOKENS };
  const accounts = new TokenBuckets(ofAccount);
  const addresses = new TokenBuckets(ADDRESS_RATE);
  /** Sets the limit of the account that is looked at next. */
  const setLimit = (perSecond: number) => {
    ofAccount.perSecond = shareOfLimit(perSecond, controls());
    ofAccount.burst = BURST_SECONDS * ofAccount.perSecond;
  };
  return {
    takeAddress: (address) => refuseEmpty(addresses.take(address, steadyClock()), 'tooManyRequests'),
    take({ key, accountId }, { requestsPerSecond }) {
      refuseEmpty(tokens.take(key, steadyClock()), 'tooManyRequests');
      if (requestsPerSecond === undefined || accountId === undefined) return;
      setLimit(requestsPerSecond);
      refuseEmpty(accounts.take(String(accountId), steadyClock()), 'tooManyRequests');
    },
    fieldsOf({ key, accountId }, { requestsPerSecond }) {
      const own = describe('token', limits, tokens.available(key, steadyClock()));
      if (requestsPerSecond === undefined || accountId === undefined) return own;
      setLimit(requestsPerSecond);
      const all = describe('account', ofAccount, accounts.available(String(accountId), steadyClock()));
      return {
        'ratelimit-policy': `${own['ratelimit-policy']}, ${all['ratelimit-policy']}`,
        ratelimit: `${own.ratelimit}, ${all.ratelimit}`,
      };
    },
  };
}

function describe(name: string, { perSecond, burst }: { perSecond: number; burst: number }, left: number) {
  return {
    'ratelimit-policy': `"${name}";q=${Math.floor(burst)};w=${Math.ceil(burst / perSecond)}`,
    ratelimit: `"${name}";r=${left};t=${Math.ceil((burst - left) / perSecond)}`,
  };
}
