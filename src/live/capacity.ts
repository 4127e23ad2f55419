/**
 * How many streams this process takes, and how much memory they may hold: shares of their domains, so that one of them leaves
 * something for the others. Pure; the time is passed in. docs/decisions/0483
 */
import { chooseEmptied, type Holding } from '#fanout/emptied.ts';
import { createShares, type Shares } from '#lib/shares.ts';
import { TokenBuckets } from '#lib/token-bucket.ts';

export interface CapacityLimits {
  /** Streams on air or about to be. */
  readonly maxStreams: number;
  /** Memory of all streams: groups of pictures, HLS segments, incomplete messages. */
  readonly maxBytes: number;
}

/**
 * `streams`: the domain has its share of them. `memory`: its streams have filled theirs a moment ago. `rate`: too many of its
 * broadcasts began.
 */
export type CapacityRefusal = 'streams' | 'memory' | 'rate';

/** How long a domain gets no new streams after one of its streams was emptied. */
const FULL_MS = 10_000;

/**
 * Broadcasts that one domain may begin. Each costs rows at control, in a queue that all domains share. All publishers of a
 * domain may come back at once.
 */
const BEGINS_PER_SECOND = 10;
const BEGINS_AT_ONCE = 2_500;
const MAX_DOMAINS = 10_000;

export class Capacity {
  readonly #limits: CapacityLimits;
  readonly #streams: Shares;
  readonly #begins = new TokenBuckets({ perSecond: BEGINS_PER_SECOND, burst: BEGINS_AT_ONCE, maxKeys: MAX_DOMAINS });
  /** When streams of a domain were emptied last. */
  readonly #emptiedAt = new Map<number, number>();

  constructor(limits: CapacityLimits) {
    this.#limits = limits;
    this.#streams = createShares(limits.maxStreams);
  }

  /** A stream of the domain has come. */
  enter(domainId: number): void {
    this.#streams.add(String(domainId), 1);
  }

  /** Notes a broadcast that is about to begin. Returns false when the domain has begun too many of them. */
  begin(domainId: number, now: number): boolean {
    return this.#begins.take(String(domainId), now).kind === 'taken';
  }

  leave(domainId: number): void {
    this.#streams.add(String(domainId), -1);
  }

  /** Why the domain gets no further stream; `undefined`: it does. */
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
