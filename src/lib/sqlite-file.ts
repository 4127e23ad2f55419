/** SQLite files that a process keeps for itself: transactions, what an error means, and moving a damaged one aside. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

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

/** The file is good, somebody else has it just now. */
export function isBusy(error: unknown): boolean {
  return hasCode(error, SQLITE_BUSY, SQLITE_LOCKED);
}

/** Damaged, or no database at all. */
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

/** With its WAL, which belongs to it; replaces what was moved there before. Gives the new name. */
export function moveAside(file: string): string {
  const aside = `${file}.damaged`;
  for (const suffix of ['', '-wal', '-shm']) {
    rmSync(aside + suffix, { recursive: true, force: true });
    if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
  }
  return aside;
}
