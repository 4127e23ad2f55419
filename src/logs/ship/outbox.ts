/**
 * Counts of this edge that control does not have yet, in an SQLite file: how far each journal is read, the sums that
 * are in no report yet, reports that wait to be acknowledged. Reading and its effects are one transaction, so each
 * record counts once, whenever the process ends.
 */
import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { inTransaction, openSound } from '#lib/sqlite-file.ts';
import { addCounters, type Counters, type MinuteCounters } from '../counters.ts';
import { formatReport, MAX_REPORT_MINUTES } from '../report.ts';
import { readCounts, writeCounts } from './counts-text.ts';
import { createTotals, TOTALS_LAYOUT, type Totals } from './totals.ts';

interface JournalPlace {
  /** Offset in the journal up to which it is read. */
  readonly readTo: number;
  /** Offset in the log up to which it is counted. */
  readonly upTo: number;
}

interface WaitingReport {
  readonly sequence: number;
  /** JSON. */
  readonly body: string;
}

export interface Outbox extends Disposable {
  placeOf(stem: string): JournalPlace;
  /** Adds the sums between the previous position and this one. */
  advance(stem: string, place: JournalPlace, counts: readonly MinuteCounters[]): void;
  /** Forgets all other files, which are gone. */
  forgetOthers(stems: readonly string[]): void;
  /** Turns all sums that are in no report yet into reports. */
  makeReports(): void;
  /** Returns the oldest report. */
  nextReport(): WaitingReport | undefined;
  /** Drops an acknowledged report. */
  dropReport(sequence: number): void;
  countReports(): number;
  /** Returns everything that was ever counted here: the first time all totals, then those that have changed. */
  totals(): Totals;
}

/** Reports of some weeks without control. Beyond this limit the oldest are dropped. */
const MAX_REPORTS = 50_000;

const LAYOUT = `
  create table if not exists origin (id integer primary key check (id = 1), start text not null, sequence integer not null) strict;
  create table if not exists journal (stem text primary key, read_to integer not null, up_to integer not null) strict;
  create table if not exists minute (minute integer, domain_id integer, counts text not null, primary key (minute, domain_id)) strict;
  create table if not exists report (sequence integer primary key, body text not null) strict;
`;

export interface OutboxOptions {
  readonly file: string;
  readonly edge: string;
  /** Notified of counts when they are kept. */
  readonly onCounted?: (counts: readonly MinuteCounters[]) => void;
  /** Notified of reports that were dropped beyond the limit. */
  readonly onLost: (reports: number) => void;
  /** Notified of the new name of a damaged or foreign file, whose content is not reported. */
  readonly onMoved: (to: string) => void;
}

/** Throws if the file cannot be opened for now, as on a full disk. */
export function openOutbox({ file, edge, onCounted, onLost, onMoved }: OutboxOptions): Outbox {
  const database = openSound(file, lay, onMoved);
  const start = String(database.prepare('select start from origin').get()?.['start']);
  const sql = prepare(database);
  const add = (minute: number, domainId: number, counts: Counters) => {
    const known = readCounts(sql.minute.get(minute, domainId), domainId, minute);
    if (known !== undefined) addCounters(counts, known);
    sql.putMinute.run(minute, domainId, writeCounts({ ...counts, domainId, minute }));
  };
  const totals = createTotals(database);
  const makeReports = () => {
    for (;;) {
      const rows = sql.minutes.all(MAX_REPORT_MINUTES);
      if (rows.length === 0) break;
      const minutes = rows.map((row) => readCounts(row, Number(row['domain_id']), Number(row['minute'])));
      const sequence = Number(sql.count.get()?.['sequence']);
      const report = { edge, start, sequence, minutes: minutes.filter((one) => one !== undefined) };
      sql.putReport.run(sequence, formatReport(report));
      for (const row of rows) sql.dropMinute.run(row['minute'] ?? 0, row['domain_id'] ?? 0);
    }
    const lost = Number(sql.trim.run(MAX_REPORTS).changes);
    if (lost > 0) onLost(lost);
  };
  return {
    placeOf(stem) {
      const row = sql.place.get(stem);
      return { readTo: Number(row?.['read_to'] ?? 0), upTo: Number(row?.['up_to'] ?? 0) };
    },
    advance(stem, { readTo, upTo }, counts) {
      inTransaction(database, () => {
        sql.putPlace.run(stem, readTo, upTo);
        totals.add(counts);
        for (const { domainId, minute, ...counters } of counts) add(minute, domainId, counters);
      });
      onCounted?.(counts);
    },
    forgetOthers: (stems) => void sql.forgetOthers.run(JSON.stringify(stems)),
    makeReports: () => inTransaction(database, makeReports),
    nextReport() {
      const row = sql.next.get();
      return row && { sequence: Number(row['sequence']), body: String(row['body']) };
    },
    dropReport: (sequence) => void sql.dropReport.run(sequence),
    countReports: () => Number(sql.countReports.get()?.['n']),
    totals: totals.read,
    [Symbol.dispose]: () => database.close(),
  };
}

function lay(database: DatabaseSync): void {
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
  database.exec(LAYOUT + TOTALS_LAYOUT);
  database.prepare('insert or ignore into origin values (1, ?, 0)').run(randomUUID());
}

function prepare(database: DatabaseSync) {
  return {
    place: database.prepare('select read_to, up_to from journal where stem = ?'),
    putPlace: database.prepare('insert or replace into journal values (?, ?, ?)'),
    forgetOthers: database.prepare('delete from journal where stem not in (select value from json_each(?))'),
    minute: database.prepare('select counts from minute where minute = ? and domain_id = ?'),
    putMinute: database.prepare('insert or replace into minute values (?, ?, ?)'),
    minutes: database.prepare('select * from minute order by minute, domain_id limit ?'),
    dropMinute: database.prepare('delete from minute where minute = ? and domain_id = ?'),
    count: database.prepare('update origin set sequence = sequence + 1 returning sequence'),
    putReport: database.prepare('insert into report values (?, ?)'),
    next: database.prepare('select sequence, body from report order by sequence limit 1'),
    dropReport: database.prepare('delete from report where sequence = ?'),
    countReports: database.prepare('select count(*) as n from report'),
    trim: database.prepare(
      'delete from report where sequence <= (select sequence from report order by sequence desc limit 1 offset ?)',
    ),
  };
}
