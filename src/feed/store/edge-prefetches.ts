/** The prefetches in an edge's file: pending ones, finished ones, and those not reported to control yet. */
import type { DatabaseSync } from 'node:sqlite';
import type { PrefetchOutcome, PrefetchSpec } from '#sites/prefetch.ts';

export interface PrefetchEntry {
  /** Key of the resource. */
  readonly key: string;
  readonly spec: PrefetchSpec;
}

export interface PrefetchResultEntry extends PrefetchEntry {
  readonly outcome: PrefetchOutcome;
}

export interface EdgePrefetches {
  /**
   * Lists prefetches without an outcome up to this revision of the feed: at most `perAccount` of each account, its
   * oldest. The first of every account come before the second of any; at most 1,000 in all.
   */
  listPending(revision: number, perAccount: number): readonly PrefetchEntry[];
  /** Stores an outcome until the resource is deleted, so that a restart does not fetch again. */
  save(key: string, outcome: PrefetchOutcome): void;
  listUnreported(limit: number): readonly PrefetchResultEntry[];
  markReported(keys: readonly string[]): void;
}

/** Limit of listed prefetches, far above the number in flight. */
const MAX_LISTED = 1000;

export function createEdgePrefetches(database: DatabaseSync): EdgePrefetches {
  // `prefetcherOf` in SQL.
  const selectPending = database.prepare(`
    select key, body from (
      select key, body, revision, row_number() over (
        partition by coalesce(json_extract(body, '$.accountId'), json_extract(body, '$.host')) order by revision, key
      ) as place
      from resource where kind = 'prefetch' and revision <= ? and key not in (select key from prefetched)
    ) where place <= ? order by place, revision, key limit ${MAX_LISTED}
  `);
  const selectUnreported = database.prepare(`
    select key, body, outcome from prefetched join resource using (key)
      where kind = 'prefetch' and is_reported = 0 order by key limit ?
  `);
  // The outcome of a resource that was deleted meanwhile is not needed.
  const insert = database.prepare(`
    insert or replace into prefetched (key, outcome, is_reported)
      select key, ?, 0 from resource where kind = 'prefetch' and key = ?
  `);
  const mark = database.prepare('update prefetched set is_reported = 1 where key = ?');
  return {
    listPending: (revision, perAccount) => selectPending.all(revision, perAccount).map(toEntry),
    save: (key, outcome) => void insert.run(JSON.stringify(outcome), key),
    listUnreported: (limit) =>
      selectUnreported.all(limit).map((row) => ({
        ...toEntry(row),
        // `as`: written by `save` only.
        outcome: JSON.parse(String(row['outcome'])) as PrefetchOutcome,
      })),
    markReported: (keys) => {
      for (const key of keys) mark.run(key);
    },
  };
}

function toEntry(row: Readonly<Record<string, unknown>>): PrefetchEntry {
  // `as`: only what `accept.ts` has checked was stored.
  return { key: String(row['key']), spec: JSON.parse(String(row['body'])) as PrefetchSpec };
}
