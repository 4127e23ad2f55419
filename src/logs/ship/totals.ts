/**
 * Everything that an edge has counted since its outbox was created, for its metrics: the first domains one by one, the
 * others together.
 */
import type { DatabaseSync } from 'node:sqlite';
import { addCounters, type Counters, type MinuteCounters, noCounters } from '../counters.ts';
import { readCounts, writeCounts } from './counts-text.ts';

export interface Totals {
  /** Whether these are all totals, or only those that have changed since they were last read. */
  readonly isWhole: boolean;
  /** Totals by domain, in order of their first count. */
  readonly domains: readonly MinuteCounters[];
  /** Totals of all other domains; `undefined` if there are none or they are unchanged. */
  readonly others: Readonly<Counters> | undefined;
}

/** Domains with metrics of their own: each has ten series. */
const MAX_DOMAINS = 1_000;

export const TOTALS_LAYOUT = `
  create table if not exists total (n integer primary key, domain_id integer not null unique, counts text not null) strict;
  create table if not exists others (id integer primary key check (id = 1), counts text not null) strict;
`;

export function createTotals(database: DatabaseSync) {
  const sql = {
    count: database.prepare('select count(*) as n from total'),
    one: database.prepare('select domain_id, counts from total where domain_id = ?'),
    all: database.prepare('select domain_id, counts from total order by n limit ?'),
    put: database.prepare(
      'insert into total (domain_id, counts) values (?, ?) on conflict (domain_id) do update set counts = excluded.counts',
    ),
    others: database.prepare('select counts from others'),
    putOthers: database.prepare('insert or replace into others values (1, ?)'),
  };
  /** Ids of changed domains; `undefined` until the first reading. */
  let changed: Set<number> | undefined;
  let haveOthersChanged = false;
  return {
    /** Adds counts; must be called within a transaction. */
    add(counts: readonly MinuteCounters[]): void {
      let domains = Number(sql.count.get()?.['n']);
      let others: MinuteCounters | undefined;
      for (const one of counts) {
        const known = readCounts(sql.one.get(one.domainId), one.domainId, 0);
        if (known === undefined && domains >= MAX_DOMAINS) {
          others ??= readCounts(sql.others.get(), 0, 0) ?? { ...noCounters(), domainId: 0, minute: 0 };
          addCounters(others, one);
          continue;
        }
        if (known === undefined) domains++;
        const sum = known ?? { ...noCounters(), domainId: one.domainId, minute: 0 };
        addCounters(sum, one);
        sql.put.run(one.domainId, writeCounts(sum));
        changed?.add(one.domainId);
      }
      if (others === undefined) return;
      sql.putOthers.run(writeCounts(others));
      haveOthersChanged = true;
    },
    read(): Totals {
      const isWhole = changed === undefined;
      const rows = changed === undefined ? sql.all.all(MAX_DOMAINS) : [...changed].map((id) => sql.one.get(id));
      const others = isWhole || haveOthersChanged ? readCounts(sql.others.get(), 0, 0) : undefined;
      changed = new Set();
      haveOthersChanged = false;
      return { isWhole, domains: rows.flatMap((row) => readCounts(row, Number(row?.['domain_id']), 0) ?? []), others };
    },
  };
}
