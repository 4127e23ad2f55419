/** Private SQLite files of a process: transactions, classification of errors, and replacing a damaged file. */
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { nameFile } from './file-error.ts';

const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/**
 * Opens a file, creating it if missing, and closes it to other users. `lay` creates missing tables. A damaged file, or one that is not a database, is
 * moved aside and replaced; `onMoved` receives its new name. Throws an error that names the file if it cannot be opened
 * now, as on a full disk.
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
    closeToOthers(file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Names of the files that belong to a database. */
const SUFFIXES = ['', '-wal', '-shm'] as const;

/** Lets only the owner read and write a database, whatever the umask was when it was made. */
export function closeToOthers(file: string): void {
  for (const suffix of SUFFIXES) if (existsSync(file + suffix)) chmodSync(file + suffix, 0o600);
}

/** Runs `work` in a transaction; an error rolls it back and is rethrown. */
export function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec('begin immediate');
  try {
    work();
    database.exec('commit');
  } catch (error) {
    // On a full disk SQLite has rolled back already.
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

/** Whether a statement does not fit the file's tables. */
export function isMissingTable(error: unknown): boolean {
  return hasCode(error, SQLITE_ERROR);
}

function hasCode(error: unknown, ...codes: readonly number[]): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  // The lowest byte is the primary result code, the rest extends it.
  return codes.includes(Number(error.errcode) & 0xff);
}

/** Moves the file and its WAL aside, replacing what was moved there before. Returns the new name. */
export function moveAside(file: string): string {
  const aside = `${file}.damaged`;
  for (const suffix of SUFFIXES) {
    rmSync(aside + suffix, { recursive: true, force: true });
    if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
  }
  return aside;
}
