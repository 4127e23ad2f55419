/** How often an address may send an unknown access token. Good ones from there are never held up: docs/decisions/0460 */
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Clock } from '#lib/clock.ts';
import { type Rate, type Take, TokenBuckets } from '#lib/token-bucket.ts';
import { shareOfLimit } from '#model/control.ts';

/** Addresses whose failures are remembered; each takes some 200 bytes. */
const MAX_ADDRESSES = 50_000;

export class FailedTokens {
  readonly #buckets: TokenBuckets;
  readonly #clock: Clock;
  readonly #rate: () => Rate;

  /** `controls`: number of controls that share the limit, each of which counts for itself. */
  constructor(perMinute: number, steadyClock: Clock, controls: () => number) {
    this.#clock = steadyClock;
    this.#rate = () => {
      const burst = shareOfLimit(perMinute, controls());
      return { perSecond: burst / 60, burst };
    };
    this.#buckets = new TokenBuckets({ ...this.#rate(), maxKeys: MAX_ADDRESSES });
  }

  /** An unknown token came from `address`: returns `tokenUnknown`, or `tooManyFailedTokens` once there have been too many. */
  refusalOf(address: string): ServiceError {
    const take = this.#buckets.take(address, this.#clock(), 1, this.#rate());
    return take.kind === 'taken' ? new ServiceError('tokenUnknown') : tooMany(take, 'tooManyFailedTokens');
  }
}

/** Throws when there was nothing to take. */
export function refuseEmpty(take: Take, code: 'tooManyRequests'): void {
  if (take.kind === 'empty') throw tooMany(take, code);
}

function tooMany({ waitMs }: Extract<Take, { kind: 'empty' }>, code: 'tooManyRequests' | 'tooManyFailedTokens') {
  return new ServiceError(code, { seconds: Math.max(1, Math.ceil(waitMs / 1000)) });
}
