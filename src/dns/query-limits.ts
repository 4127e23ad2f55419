/**
 * Limits the responses over UDP to one address, which a sender may have forged: beyond the rate every second response only
 * asks the client to come over TCP, and the others are dropped.
 */
import { clientNetwork } from '#lib/cidr.ts';
import { isLoopback } from '#lib/listen-address.ts';
import { TokenBuckets } from '#lib/token-bucket.ts';

/** `truncate`: the response has no records. */
export type Leave = 'answer' | 'truncate' | 'drop';

const RATE = { perSecond: 20, burst: 40 };
const MAX_CLIENTS = 20_000;

export class QueryLimits {
  readonly #buckets = new TokenBuckets({ ...RATE, maxKeys: MAX_CLIENTS });
  #refusals = 0;

  /** `monotonic`: milliseconds. Resolvers of this machine are not limited: nobody else can send from their addresses. */
  take(address: string, monotonic: number): Leave {
    if (isLoopback(address)) return 'answer';
    if (this.#buckets.take(clientNetwork(address), monotonic).kind === 'taken') return 'answer';
    return this.#refusals++ % 2 === 0 ? 'truncate' : 'drop';
  }
}
