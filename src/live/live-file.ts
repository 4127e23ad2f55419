/**
 * What a live process remembers beyond its own death, in an SQLite file of its own: events that control has not acknowledged,
 * and what is on air, so that a broadcast which was on air when the process was killed ends at the next start. docs/decisions/0492
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { LiveReport } from '#feed/live-report.ts';
import { inTransaction, openSound } from '#lib/sqlite-file.ts';

type LiveEvent = LiveReport['events'][number];

/** An event before it has its number. */
export type NewEvent = Began | Ended;
type Began = Omit<Extract<LiveEvent, { kind: 'began' }>, 'n'>;
type Ended = Omit<Extract<LiveEvent, { kind: 'ended' }>, 'n'>;

export interface LiveFile extends Disposable {
  /** Names this file: events count from 1 in each. */
  readonly epoch: string;
  /** Keeps the event until it is acknowledged, and with it that the broadcast is on air, or is not any more. */
  append(event: NewEvent): void;
  /** When the last media of each broadcast that is on air came, epoch milliseconds. */
  saveLastMedia(broadcasts: readonly { readonly broadcast: string; readonly lastMediaAt: number }[]): void;
  /** The oldest that are not acknowledged. */
  listEvents(limit: number): readonly LiveEvent[];
  countEvents(): number;
  /** Forgets the events up to this number. */
  acknowledge(n: number): void;
}

/** Some weeks of a busy machine without control; beyond it the oldest go. */
const MAX_EVENTS = 100_000;

/** `autoincrement`: a number is never given twice, also when all events are acknowledged. */
const LAYOUT = `
  create table if not exists origin (id integer primary key check (id = 1), epoch text not null) strict;
  create table if not exists event (n integer primary key autoincrement, body text not null) strict;
  create table if not exists on_air (
    broadcast text primary key, domain_id integer not null, app text not null, stream text not null, last_media_at integer not null
  ) strict;
`;

/**
 * Opens the file; what was on air in it ends with the reason `crashed`. `onMoved` is told where a damaged or foreign file went.
 * Throws when the file cannot be opened just now, as on a full disk.
 */
export function openLiveFile(file: string, onMoved: (to: string) => void): LiveFile {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const database = openSound(file, lay, onMoved);
  const sql = prepare(database);
  const put = (event: NewEvent) => {
    sql.put.run(JSON.stringify(event));
    const { broadcast, domainId, app, stream, at } = event;
    if (event.kind === 'began') sql.putOnAir.run(broadcast, domainId, app, stream, at);
    else sql.dropOnAir.run(broadcast);
  };
  inTransaction(database, () => {
    for (const event of sql.onAir.all().map(toCrash)) put(event);
    sql.trim.run(MAX_EVENTS);
  });
  return {
    epoch: String(sql.epoch.get()?.['epoch']),
    append: (event) => inTransaction(database, () => put(event)),
    saveLastMedia: (broadcasts) =>
      inTransaction(database, () => {
        for (const { broadcast, lastMediaAt } of broadcasts) sql.saveLastMedia.run(Math.round(lastMediaAt), broadcast);
        sql.trim.run(MAX_EVENTS);
      }),
    listEvents: (limit) =>
      // `as`: only `put` writes them.
      sql.list.all(limit).map((row) => ({ n: Number(row['n']), ...JSON.parse(String(row['body'])) }) as LiveEvent),
    countEvents: () => Number(sql.count.get()?.['n']),
    acknowledge: (n) => void sql.acknowledge.run(n),
    [Symbol.dispose]: () => database.close(),
  };
}

function toCrash(row: Readonly<Record<string, unknown>>): NewEvent {
  return {
    kind: 'ended',
    reason: 'crashed',
    domainId: Number(row['domain_id']),
    app: String(row['app']),
    stream: String(row['stream']),
    broadcast: String(row['broadcast']),
    at: Number(row['last_media_at']),
  };
}

function lay(database: DatabaseSync): void {
  database.exec('pragma journal_mode = wal; pragma synchronous = normal');
  database.exec(LAYOUT);
  database.prepare('insert or ignore into origin values (1, ?)').run(randomUUID());
}

function prepare(database: DatabaseSync) {
  return {
    epoch: database.prepare('select epoch from origin'),
    put: database.prepare('insert into event (body) values (?)'),
    list: database.prepare('select n, body from event order by n limit ?'),
    count: database.prepare('select count(*) as n from event'),
    acknowledge: database.prepare('delete from event where n <= ?'),
    onAir: database.prepare('select * from on_air order by last_media_at'),
    putOnAir: database.prepare('insert or replace into on_air values (?, ?, ?, ?, ?)'),
    dropOnAir: database.prepare('delete from on_air where broadcast = ?'),
    saveLastMedia: database.prepare('update on_air set last_media_at = ? where broadcast = ?'),
    trim: database.prepare('delete from event where n <= (select n from event order by n desc limit 1 offset ?)'),
  };
}
