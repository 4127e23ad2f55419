/** SQLite files that a process keeps for itself: transactions, what an error means, and moving a damaged one aside. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { nameFile } from './file-error.ts';

const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/**
 * Opens a file, or makes it. `lay` makes the tables that are missing. One that is damaged, or no database, is moved
 * aside, a new one takes its place, and `onMoved` is told its new name. Throws, naming the file, when it cannot be
 * opened just now, as on a full disk.
 */
export function openSound(
  file: string,
  lay: (database: DatabaseSync) => void,
  onMoved: (to: string) => void,
): DatabaseSync {
  try {
    return openFile(file, lay);
  } catch (error) {
    if (!isDamage(error)) throw nameFile(file, error);
    onMoved(moveAside(file));
    return openFile(file, lay);
  }
}

function openFile(file: string, lay: (database: DatabaseSync) => void): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    lay(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** All of the work, or nothing of it. */
export function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec('begin immediate');
  try {
    work();
    database.exec('commit');
  } catch (error) {
    // On a full disk SQLite has done so itself.
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}

/** Whether the file is good but locked by another process. */
export function isBusy(error: unknown): boolean {
  return hasCode(error, SQLITE_BUSY, SQLITE_LOCKED);
}

/** Whether the file is damaged or not a database. */
export function isDamage(error: unknown): boolean {
  return hasCode(error, SQLITE_CORRUPT, SQLITE_NOTADB);
}

/** The statement does not fit the file's tables. */
export function isMissingTable(error: unknown): boolean {
  return hasCode(error, SQLITE_ERROR);
}

function hasCode(error: unknown, ...codes: readonly number[]): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  // The lowest byte is the kind, above it stands which of that kind.
  return codes.includes(Number(error.errcode) & 0xff);
}

/** Moves the file and its WAL aside, replacing what was moved there before. Returns the new name. */
export function moveAside(file: string): string {
  const aside = `${file}.damaged`;
  for (const suffix of ['', '-wal', '-shm']) {
    rmSync(aside + suffix, { recursive: true, force: true });
    if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
  }
  return aside;
}
