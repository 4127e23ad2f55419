/**
 * Limits the streams of this process and the memory that they hold. Each domain has a share, so that none takes all.
 * Pure; the time is passed in. docs/decisions/0483
 */
import { chooseEmptied, type Holding } from '#fanout/emptied.ts';
import { createShares, type Shares } from '#lib/shares.ts';
import { TokenBuckets } from '#lib/token-bucket.ts';

export interface CapacityLimits {
  /** Streams on air or about to begin. */
  readonly maxStreams: number;
  /** Memory of all streams: groups of pictures, HLS segments, incomplete messages. */
  readonly maxBytes: number;
}

/**
 * `streams`: the domain has its share of streams. `memory`: its streams have just filled its share of the memory.
 * `rate`: it has begun too many broadcasts.
 */
export type CapacityRefusal = 'streams' | 'memory' | 'rate';

/** How long a domain gets no new streams after one of its streams was emptied. */
const FULL_MS = 10_000;

/**
 * Rate limit of broadcasts that a domain begins, because each costs rows at control, in a queue that all domains share.
 * The burst lets all publishers of a domain reconnect at once.
 */
const BEGINS_PER_SECOND = 10;
const BEGINS_AT_ONCE = 2_500;
const MAX_DOMAINS = 10_000;

export class Capacity {
  readonly #limits: CapacityLimits;
  readonly #streams: Shares;
  readonly #begins = new TokenBuckets({ perSecond: BEGINS_PER_SECOND, burst: BEGINS_AT_ONCE, maxKeys: MAX_DOMAINS });
  /** Instants at which streams of a domain were last emptied. */
  readonly #emptiedAt = new Map<number, number>();

  constructor(limits: CapacityLimits) {
    this.#limits = limits;
    this.#streams = createShares(limits.maxStreams);
  }

  /** Counts a new stream of the domain. */
  enter(domainId: number): void {
    this.#streams.add(String(domainId), 1);
  }

  /** Counts a broadcast that is about to begin. Returns false if the domain exceeds its rate. */
  begin(domainId: number, now: number): boolean {
    return this.#begins.take(String(domainId), now).kind === 'taken';
  }

  leave(domainId: number): void {
    this.#streams.add(String(domainId), -1);
  }

  /** Returns why the domain gets no further stream; `undefined` if it may have one. */
  refusal(domainId: number, now: number): CapacityRefusal | undefined {
    if (!this.#streams.mayTake(String(domainId), 1)) return 'streams';
    const emptiedAt = this.#emptiedAt.get(domainId);
    return emptiedAt !== undefined && now - emptiedAt < FULL_MS ? 'memory' : undefined;
  }

  /** Returns the streams to be emptied, see `chooseEmptied`. Their domains get no new streams for a while. */
  measure<T extends Holding>(holdings: readonly T[], now: number): readonly T[] {
    for (const [domainId, at] of this.#emptiedAt) if (now - at >= FULL_MS) this.#emptiedAt.delete(domainId);
    const emptied = chooseEmptied(holdings, this.#limits.maxBytes);
    for (const { domainId } of emptied) this.#emptiedAt.set(domainId, now);
    return emptied;
  }
}
