/** How far each sink has sent each spool file, in an SQLite file. */
import type { DatabaseSync } from 'node:sqlite';
import { inTransaction, openSound } from '#lib/sqlite-file.ts';

interface SinkPlace {
  /** Offset in the file up to which it is sent. */
  readonly sent: number;
  /** Whether the sink needs nothing of the file any more. */
  readonly isDone: boolean;
}

export interface SinkPlaces extends Disposable {
  /** Adds a sink that is not known yet: it begins at these offsets of the files. */
  begin(sink: string, files: Iterable<readonly [stem: string, bytes: number]>): void;
  /** Forgets all other sinks. */
  keepSinks(sinks: readonly string[]): void;
  /** Forgets all other files. */
  keepFiles(stems: readonly string[]): void;
  placeOf(sink: string, stem: string): SinkPlace;
  save(sink: string, stem: string, place: SinkPlace): void;
}

const LAYOUT = `
  create table if not exists sink (name text primary key) strict;
  create table if not exists place (
    sink text, stem text, sent integer not null, is_done integer not null, primary key (sink, stem)
  ) strict;
`;

/** Throws if the file cannot be opened for now, as on a full disk. */
export function openSinkPlaces(file: string, onMoved: (to: string) => void): SinkPlaces {
  const database = openSound(file, lay, onMoved);
  const sql = {
    known: database.prepare('select 1 from sink where name = ?'),
    addSink: database.prepare('insert into sink values (?)'),
    keepSinks: database.prepare('delete from sink where name not in (select value from json_each(?))'),
    keepOfSinks: database.prepare('delete from place where sink not in (select value from json_each(?))'),
    keepFiles: database.prepare('delete from place where stem not in (select value from json_each(?))'),
    place: database.prepare('select sent, is_done from place where sink = ? and stem = ?'),
    put: database.prepare('insert or replace into place values (?, ?, ?, ?)'),
  };
  const placeOf = (sink: string, stem: string): SinkPlace => {
    const row = sql.place.get(sink, stem);
    return { sent: Number(row?.['sent'] ?? 0), isDone: row?.['is_done'] === 1 };
  };
  return {
    begin(sink, files) {
      if (sql.known.get(sink) !== undefined) return;
      inTransaction(database, () => {
        sql.addSink.run(sink);
        for (const [stem, bytes] of files) sql.put.run(sink, stem, bytes, 0);
      });
    },
    keepSinks(sinks) {
      const names = JSON.stringify(sinks);
      sql.keepSinks.run(names);
      sql.keepOfSinks.run(names);
    },
    keepFiles: (stems) => void sql.keepFiles.run(JSON.stringify(stems)),
    placeOf,
    save(sink, stem, { sent, isDone }) {
      const before = placeOf(sink, stem);
      if (before.sent !== sent || before.isDone !== isDone) sql.put.run(sink, stem, sent, isDone ? 1 : 0);
    },
    [Symbol.dispose]: () => database.close(),
  };
}

function lay(database: DatabaseSync): void {
  // What is lost at a power failure is sent again.
  database.exec('pragma journal_mode = wal; pragma synchronous = normal');
  database.exec(LAYOUT);
}
