/**
 * A directory that one running service owns: closed to other users, and locked for as long as the process lives. The lock
 * is a lock of the system on an SQLite file, so it is free again the moment its holder is gone, however that went.
 */
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export type OpenedDirectory =
  /** `wasOpen`: others could enter it until now. */
  | { readonly kind: 'directory'; readonly lock: Disposable; readonly wasOpen: boolean }
  | { readonly kind: 'inUse' }
  | { readonly kind: 'unusable'; readonly problem: string };

/** Makes the directory if need be, closes it to others (0700) and takes its lock. */
export function openDataDirectory(directory: string): OpenedDirectory {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const wasOpen = (statSync(directory).mode & 0o077) !== 0;
    if (wasOpen) chmodSync(directory, 0o700);
    const lock = takeLock(join(directory, 'lock'));
    return lock === undefined ? { kind: 'inUse' } : { kind: 'directory', lock, wasOpen };
  } catch (error) {
    return { kind: 'unusable', problem: error instanceof Error ? error.message : String(error) };
  }
}

const SQLITE_BUSY = 5;

/** Gives `undefined` when another holds it. Throws when the file cannot be made. Never open the file in another way: closing it would drop the lock. */
export function takeLock(file: string): Disposable | undefined {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // No journal file: the lock can be had on a full disk too.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  return { [Symbol.dispose]: () => database.close() };
}
