/**
 * What each of an account's domains has sent: counted at most once in a minute for each account, for one account after
 * another, so that no account holds up the database for others.
 */
import type { Db } from '#db/open.ts';
import { type DomainTraffic, sumByDomain } from '#db/tables/domain-sums.ts';
import type { Grain } from '#db/tables/statistics.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/durations.ts';
import { Lru } from '#lib/lru.ts';
import type { Days } from '#logs/day.ts';

export type RankSpan = '24h' | '7d' | '30d';

export interface Ranks {
  readonly countedAt: number;
  /** Traffic by id of the domain; domains without traffic are absent. */
  readonly domains: ReadonlyMap<number, DomainTraffic>;
}

/** Domains of all accounts and spans that are remembered. */
const MAX_DOMAINS = 200_000;
const FRESH_MS = MINUTE_MS;

export class TrafficRanks {
  readonly #kept = new Lru<string, Ranks>({ maxWeight: MAX_DOMAINS, weigh: ({ domains }) => domains.size + 1 });
  readonly #counting = new Map<string, Promise<Ranks>>();
  readonly #days: Days;
  #last: Promise<unknown> = Promise.resolve();

  constructor(days: Days) {
    this.#days = days;
  }

  async get(db: Db, accountId: number, span: RankSpan, now: number): Promise<Ranks> {
    const key = `${accountId} ${span}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined && Math.abs(now - kept.countedAt) < FRESH_MS) return kept;
    const counting = this.#counting.get(key);
    if (counting !== undefined) return await counting;
    const asked = { accountId, ...rangeOf(span, now, this.#days) };
    const counted = this.#last.then(async () => {
      try {
        const rows = await sumByDomain(db.query, asked);
        const ranks = { countedAt: now, domains: new Map(rows.map((row) => [row.domainId, row])) };
        this.#kept.set(key, ranks);
        return ranks;
      } finally {
        this.#counting.delete(key);
      }
    });
    this.#last = counted.catch(() => undefined); // callers receive the error
    this.#counting.set(key, counted);
    return await counted;
  }
}

/** The hour of `now`, and the 23 before it. */
export function lastHours(now: number): { readonly from: number; readonly to: number } {
  const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
  return { from: hour + HOUR_MS - DAY_MS, to: hour + HOUR_MS };
}

function rangeOf(span: RankSpan, now: number, days: Days): { grain: Grain; from: number; to: number } {
  if (span === '24h') return { grain: 'hour', ...lastHours(now) };
  const from = days.startOf(days.dayBefore(now, span === '7d' ? 6 : 29));
  return { grain: 'day', from, to: now + 1 };
}
