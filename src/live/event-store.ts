/** Events and streams on air in one SQLite database, on disk or in memory. */
import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { LiveReport } from '#feed/wire/live-report.ts';
import { inTransaction } from '#lib/sqlite-file.ts';

export type LiveEvent = LiveReport['events'][number];

/** An event that has no number yet. */
export type NewEvent = Began | Ended;
type Began = Omit<Extract<LiveEvent, { kind: 'began' }>, 'n'>;
type Ended = Omit<Extract<LiveEvent, { kind: 'ended' }>, 'n'>;

export interface LastMedia {
  readonly broadcast: string;
  /** Epoch milliseconds. */
  readonly lastMediaAt: number;
}

/** The whole content of a store, to be copied into another one. */
export interface Contents {
  readonly epoch: string;
  /** Number of the newest event so far; 0 before the first. */
  readonly lastN: number;
  readonly events: readonly LiveEvent[];
  readonly onAir: readonly Readonly<Record<string, string | number>>[];
}

/** Events of several weeks on a busy machine without control. Beyond this limit the oldest are dropped. */
const MAX_EVENTS = 100_000;

/** `autoincrement`: a number is never reused, even after all events are acknowledged. */
const LAYOUT = `
  create table if not exists origin (id integer primary key check (id = 1), epoch text not null) strict;
  create table if not exists event (n integer primary key autoincrement, body text not null) strict;
  create table if not exists on_air (
    broadcast text primary key, domain_id integer not null, app text not null, stream text not null, last_media_at integer not null
  ) strict;
`;

export function layEventStore(database: DatabaseSync): void {
  database.exec('pragma journal_mode = wal; pragma synchronous = normal');
  database.exec(LAYOUT);
  database.prepare('insert or ignore into origin values (1, ?)').run(randomUUID());
}

/** All methods throw when the database cannot be read or written. */
export class EventStore implements Disposable {
  readonly #database: DatabaseSync;
  readonly #sql: ReturnType<typeof prepare>;

  /** `database`: laid out by `layEventStore`. */
  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#sql = prepare(database);
  }

  get epoch(): string {
    return String(this.#sql.epoch.get()?.['epoch']);
  }

  append(...events: readonly NewEvent[]): void {
    inTransaction(this.#database, () => {
      for (const event of events) this.#put(event);
    });
  }

  /** Ends all broadcasts on air with the reason `crashed`: their process was killed. */
  endAll(): void {
    inTransaction(this.#database, () => {
      for (const row of this.#sql.onAir.all()) this.#put(toCrash(row));
      this.#sql.trim.run(MAX_EVENTS);
    });
  }

  saveLastMedia(broadcasts: readonly LastMedia[]): void {
    inTransaction(this.#database, () => {
      for (const { broadcast, lastMediaAt } of broadcasts)
        this.#sql.saveLastMedia.run(Math.round(lastMediaAt), broadcast);
      this.#sql.trim.run(MAX_EVENTS);
    });
  }

  /** Returns the oldest events that are not acknowledged. */
  listEvents(limit: number): readonly LiveEvent[] {
    // `as`: only `#put` writes them.
    return this.#sql.list
      .all(limit)
      .map((row) => ({ n: Number(row['n']), ...JSON.parse(String(row['body'])) }) as LiveEvent);
  }

  countEvents(): number {
    return Number(this.#sql.count.get()?.['n']);
  }

  /** Deletes the events up to this number. */
  acknowledge(n: number): void {
    this.#sql.acknowledge.run(n);
  }

  contents(): Contents {
    return {
      epoch: this.epoch,
      lastN: Number(this.#sql.lastN.get()?.['seq'] ?? 0),
      events: this.listEvents(MAX_EVENTS),
      // `as`: the table has no other columns.
      onAir: this.#sql.onAir.all() as Contents['onAir'],
    };
  }

  /** Replaces everything in this store. */
  replace({ epoch, lastN, events, onAir }: Contents): void {
    inTransaction(this.#database, () => {
      this.#database.exec('delete from event; delete from on_air; delete from sqlite_sequence');
      this.#sql.setEpoch.run(epoch);
      for (const { n, ...event } of events) this.#sql.putNumbered.run(n, JSON.stringify(event));
      for (const { broadcast = '', domain_id = 0, app = '', stream = '', last_media_at = 0 } of onAir)
        this.#sql.putOnAir.run(broadcast, domain_id, app, stream, last_media_at);
      this.#database.exec("delete from sqlite_sequence where name = 'event'");
      this.#sql.setLastN.run(lastN);
    });
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #put(event: NewEvent): void {
    this.#sql.put.run(JSON.stringify(event));
    const { broadcast, domainId, app, stream, at } = event;
    if (event.kind === 'began') this.#sql.putOnAir.run(broadcast, domainId, app, stream, at);
    else this.#sql.dropOnAir.run(broadcast);
  }
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

function prepare(database: DatabaseSync) {
  return {
    epoch: database.prepare('select epoch from origin'),
    setEpoch: database.prepare('update origin set epoch = ?'),
    put: database.prepare('insert into event (body) values (?)'),
    putNumbered: database.prepare('insert into event (n, body) values (?, ?)'),
    list: database.prepare('select n, body from event order by n limit ?'),
    count: database.prepare('select count(*) as n from event'),
    lastN: database.prepare("select seq from sqlite_sequence where name = 'event'"),
    setLastN: database.prepare("insert into sqlite_sequence (name, seq) values ('event', ?)"),
    acknowledge: database.prepare('delete from event where n <= ?'),
    onAir: database.prepare('select * from on_air order by last_media_at'),
    putOnAir: database.prepare('insert or replace into on_air values (?, ?, ?, ?, ?)'),
    dropOnAir: database.prepare('delete from on_air where broadcast = ?'),
    saveLastMedia: database.prepare('update on_air set last_media_at = ? where broadcast = ?'),
    trim: database.prepare('delete from event where n <= (select n from event order by n desc limit 1 offset ?)'),
  };
}
