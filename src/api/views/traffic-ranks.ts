/**
 * Which of an account's domains send most: counted at most once in a minute for each account, for one account after
 * another, so that no account holds up the database for others.
 */
import type { Db } from '#db/open.ts';
import { sumByDomain } from '#db/tables/domain-sums.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/durations.ts';
import { Lru } from '#lib/lru.ts';

/** Bytes sent to clients in the last 24 hours, by id of the domain; domains without traffic are absent. */
type Ranks = ReadonlyMap<number, number>;

interface Kept {
  readonly countedAt: number;
  readonly ranks: Ranks;
}

/** Domains of all accounts that are remembered. */
const MAX_DOMAINS = 500_000;
const FRESH_MS = MINUTE_MS;

export class TrafficRanks {
  readonly #kept = new Lru<number, Kept>({ maxWeight: MAX_DOMAINS, weigh: ({ ranks }) => ranks.size + 1 });
  readonly #counting = new Map<number, Promise<Ranks>>();
  #last: Promise<unknown> = Promise.resolve();

  async get(db: Db, accountId: number, now: number): Promise<Ranks> {
    const kept = this.#kept.get(accountId);
    if (kept !== undefined && Math.abs(now - kept.countedAt) < FRESH_MS) return kept.ranks;
    const counting = this.#counting.get(accountId) ?? this.#count(db, accountId, now);
    this.#counting.set(accountId, counting);
    return await counting;
  }

  #count(db: Db, accountId: number, now: number): Promise<Ranks> {
    const counted = this.#last.then(async () => {
      try {
        const rows = await sumByDomain(db.query, { accountId, grain: 'hour', ...lastHours(now) });
        const ranks = new Map(rows.map(({ domainId, bytesOut }) => [domainId, bytesOut]));
        this.#kept.set(accountId, { countedAt: now, ranks });
        return ranks;
      } finally {
        this.#counting.delete(accountId);
      }
    });
    this.#last = counted.catch(() => undefined); // callers receive the error
    return counted;
  }
}

/** The hour of `now`, and the 23 before it. */
export function lastHours(now: number): { readonly from: number; readonly to: number } {
  const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
  return { from: hour + HOUR_MS - DAY_MS, to: hour + HOUR_MS };
}
