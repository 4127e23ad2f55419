/**
 * How often an address may try a wrong access token. A try counts as a failure before the database is asked, and is taken
 * back when the token was good; so many tries at once get no further than the same tries one by one.
 */
import { ServiceError } from '#contract/service-error.ts';
import type { Clock } from '#lib/clock.ts';
import { type Take, TokenBuckets } from '#lib/token-bucket.ts';

/** Addresses whose failures are remembered; each takes some 200 bytes. */
const MAX_ADDRESSES = 50_000;

/** Tries of one address whose outcome is not known yet. */
interface UnderWay {
  count: number;
  /** Came when all that may fail was under way; they go on when one of those was good. */
  readonly waiting: (() => void)[];
}

/** Calls from one address with one token, made before any of them had its outcome. */
interface Attempt {
  callers: number;
  isFailure: boolean;
  readonly entered: Promise<UnderWay>;
}

export class FailedTokens {
  readonly #buckets: TokenBuckets;
  readonly #underWay = new Map<string, UnderWay>();
  /** By address and token, those whose outcome nobody knows yet. */
  readonly #attempts = new Map<string, Attempt>();
  readonly #clock: Clock;

  constructor(perMinute: number, steadyClock: Clock) {
    this.#clock = steadyClock;
    this.#buckets = new TokenBuckets({ perSecond: perMinute / 60, burst: perMinute, maxKeys: MAX_ADDRESSES });
  }

  /**
   * Throws `tooManyFailedTokens` when `address` is shut out, else what `lookUp` throws. Only a `ServiceError` of its makes a
   * failure: the caller is not to blame for a database that is away. `token`, or its hash: calls with the same one at once are
   * one attempt, for they try out nothing else.
   */
  async try<T>(address: string, token: string, lookUp: () => Promise<T>): Promise<T> {
    const key = `${address} ${token}`;
    const attempt = this.#attempts.get(key) ?? this.#begin(address, key);
    attempt.callers += 1;
    const underWay = await attempt.entered;
    try {
      return await lookUp();
    } catch (error) {
      attempt.isFailure ||= error instanceof ServiceError;
      throw error;
    } finally {
      this.#close(key, attempt);
      attempt.callers -= 1;
      if (attempt.callers === 0) {
        if (!attempt.isFailure) this.#buckets.give(address, this.#clock());
        this.#leave(address, underWay, attempt.isFailure);
      }
    }
  }

  #begin(address: string, key: string): Attempt {
    const attempt = { callers: 0, isFailure: false, entered: this.#enter(address) };
    this.#attempts.set(key, attempt);
    attempt.entered.catch(() => this.#close(key, attempt)); // its callers are told
    return attempt;
  }

  /** Once one of its callers knows the outcome, whoever comes makes another. */
  #close(key: string, attempt: Attempt): void {
    if (this.#attempts.get(key) === attempt) this.#attempts.delete(key);
  }

  async #enter(address: string): Promise<UnderWay> {
    for (;;) {
      const take = this.#buckets.take(address, this.#clock());
      const underWay = this.#underWay.get(address) ?? { count: 0, waiting: [] };
      if (take.kind === 'taken') {
        underWay.count += 1;
        this.#underWay.set(address, underWay);
        return underWay;
      }
      if (underWay.count === 0) refuseEmpty(take, 'tooManyFailedTokens');
      await new Promise<void>((resolve) => underWay.waiting.push(resolve));
    }
  }

  /** What was given back is for one of the waiting; when nothing is under way any more, nothing will be given back. */
  #leave(address: string, underWay: UnderWay, isFailure: boolean): void {
    underWay.count -= 1;
    if (underWay.count === 0) this.#underWay.delete(address);
    const woken = underWay.count === 0 ? underWay.waiting.length : isFailure ? 0 : 1;
    for (const wake of underWay.waiting.splice(0, woken)) wake();
  }
}

export function refuseEmpty(take: Take, code: 'tooManyRequests' | 'tooManyFailedTokens'): void {
  if (take.kind === 'empty') throw new ServiceError(code, { seconds: Math.max(1, Math.ceil(take.waitMs / 1000)) });
}
