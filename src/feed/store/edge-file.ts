/**
 * The layout of an edge's own SQLite file: opens it for writing, and writes changes. A damaged or foreign file is moved
 * aside: an edge must start, and control sends everything again.
 */
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DAY_MS } from '#lib/durations.ts';
import { nameFile } from '#lib/file-error.ts';
import { inTransaction, isDamage, isMissingTable, moveAside } from '#lib/sqlite-file.ts';

/** A change to the store: put, delete, or rejected, so that the previous version stays. `body` is JSON text. */
export type StoreChange =
  | {
      readonly kind: 'put';
      readonly resource: string;
      readonly key: string;
      readonly revision: number;
      readonly body: string;
    }
  | { readonly kind: 'delete'; readonly resource: string; readonly key: string; readonly revision: number }
  | {
      readonly kind: 'reject';
      readonly resource: string;
      readonly key: string;
      readonly revision: number;
      readonly error: string;
    };

/** "Csw2" marks a file of an edge with this layout. */
const APPLICATION_ID = 0x43737732;
const BUSY_TIMEOUT_MS = 2000;

/** `stamp`: when a purge was applied here. `prefetched`: the outcome of a prefetch here. */
const LAYOUT = `
  create table head (
    id integer primary key check (id = 1), epoch text not null, revision integer not null, tag text not null
  ) strict;
  create table resource (
    kind text not null, key text not null, revision integer not null, body text not null, primary key (kind, key)
  ) strict, without rowid;
  create table rejection (
    kind text not null, key text not null, revision integer not null, error text not null, primary key (kind, key)
  ) strict, without rowid;
  create index rejection_revision on rejection (revision);
  create table stamp (key text primary key, applied_at integer not null) strict, without rowid;
  create table prefetched (key text primary key, outcome text not null, is_reported integer not null) strict, without rowid;
  pragma application_id = ${APPLICATION_ID};
`;

/** Added to files of earlier releases, which do not look for it. */
const LATER_LAYOUT = `
  create table if not exists feed_view (id integer primary key check (id = 1), view text not null) strict;
  create table if not exists departed_site (key text primary key, left_at integer not null) strict, without rowid;
`;

/** Names of deleted sites are kept for so long, for a name server that still answers them. */
const DEPARTED_KEEP_MS = DAY_MS;

/** Thrown if the file is not an edge's or is damaged. */
class UnusableFile extends Error {}

/**
 * `onMoved` is notified of the new name of a damaged or foreign file; it replaces the one moved there before. Throws
 * with the file's name for transient errors (a full disk, no memory, too many open files): then the file is good and
 * stays.
 */
export function openEdgeFile(file: string, onMoved: (to: string) => void): DatabaseSync {
  try {
    return openWritable(file);
  } catch (error) {
    if (!isUnusable(error)) throw nameFile(file, error);
    const aside = moveAside(file);
    onMoved(aside);
    return openWritable(file);
  }
}

/**
 * Whether the file is an edge's and undamaged. Reads all of it over a new connection; throws if that is not possible
 * for now.
 */
export function isEdgeFileSound(file: string): boolean {
  try {
    using database = openEdgeFileToRead(file);
    checkFile(database);
    return true;
  } catch (error) {
    if (!isUnusable(error)) throw error;
    return false;
  }
}

function isUnusable(error: unknown): boolean {
  return error instanceof UnusableFile || isDamage(error);
}

/** Fingerprint of a file's metadata. */
export interface FileLook {
  /** Changes if another file takes the place of this one or of its WAL. */
  readonly identity: string;
  /** Changes with each write. */
  readonly content: string;
}

export function lookAtEdgeFile(file: string): FileLook {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  const wal = statSync(`${file}-wal`, { bigint: true, throwIfNoEntry: false });
  return {
    identity: `${stats?.ino} ${wal?.ino}`,
    content: [stats, wal].map((of) => `${of?.size} ${of?.mtimeNs}`).join(),
  };
}

export function openEdgeFileToRead(file: string): DatabaseSync {
  return new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
}

function openWritable(file: string): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    const isEmpty = database.prepare('select count(*) as n from sqlite_schema').get()?.['n'] === 0;
    if (!isEmpty) checkFile(database); // before anything is written, so that a foreign file stays unchanged
    chmodSync(file, 0o600);
    database.exec('pragma journal_mode = wal; pragma synchronous = full');
    if (isEmpty) inTransaction(database, () => database.exec(LAYOUT));
    database.exec(LATER_LAYOUT);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Throws `UnusableFile` if it is not an edge's file or is damaged. */
function checkFile(database: DatabaseSync): void {
  const id = database.prepare('pragma application_id').get()?.['application_id'];
  if (id !== APPLICATION_ID) throw new UnusableFile('not the file of an edge');
  const check = database.prepare('pragma quick_check(1)').get()?.['quick_check'];
  if (check !== 'ok') throw new UnusableFile(`damaged: ${check}`);
  const spoilt = database.prepare('select count(*) as n from resource where not json_valid(body)').get()?.['n'];
  if (spoilt !== 0) throw new UnusableFile(`damaged: ${spoilt} resources cannot be read`);
  try {
    database.exec('select 1 from head, resource, rejection, stamp, prefetched limit 0');
  } catch (error) {
    throw isMissingTable(error) ? new UnusableFile('tables are missing') : error;
  }
}

/**
 * Returns the function that writes a change, to be called in a transaction. `now` is stamped on a purge that is new
 * here.
 */
export function prepareApply(database: DatabaseSync): (change: StoreChange, now: number) => void {
  const put = database.prepare('insert or replace into resource (kind, key, revision, body) values (?, ?, ?, ?)');
  const remove = database.prepare('delete from resource where kind = ? and key = ?');
  const reject = database.prepare('insert or replace into rejection (kind, key, revision, error) values (?, ?, ?, ?)');
  const clear = database.prepare('delete from rejection where kind = ? and key = ?');
  const stamp = database.prepare('insert or ignore into stamp (key, applied_at) values (?, ?)');
  const forgetStamp = database.prepare('delete from stamp where key = ?');
  const forgetPrefetched = database.prepare('delete from prefetched where key = ?');
  const depart = database.prepare('insert or replace into departed_site (key, left_at) values (?, ?)');
  const forgetOld = database.prepare('delete from departed_site where left_at < ?');
  const comeBack = database.prepare('delete from departed_site where key = ?');
  return (change, now) => {
    const { resource, key, revision } = change;
    if (change.kind === 'reject') {
      reject.run(resource, key, revision, change.error);
      return;
    }
    clear.run(resource, key);
    if (change.kind === 'put') {
      put.run(resource, key, revision, change.body);
      if (resource === 'purge') stamp.run(key, now);
      if (resource === 'site') comeBack.run(key);
      return;
    }
    const { changes } = remove.run(resource, key);
    if (resource === 'site' && changes > 0) {
      depart.run(key, now);
      forgetOld.run(now - DEPARTED_KEEP_MS);
    }
    if (resource === 'purge') forgetStamp.run(key);
    if (resource === 'prefetch') forgetPrefetched.run(key);
  };
}
