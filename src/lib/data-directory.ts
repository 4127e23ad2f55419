/**
 * The data directory, owned by one running service: closed to other users, and locked while the process lives. The lock
 * is a system lock on an SQLite file, so it is released when its holder ends, however that happens.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { namingFile } from './file-error.ts';

export type OpenedDirectory =
  /** `wasOpen`: other users could access it until now. */
  | { readonly kind: 'directory'; readonly lock: Disposable; readonly wasOpen: boolean }
  | { readonly kind: 'inUse' }
  /** There is no installation, and `make` is false. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'unusable'; readonly problem: string };

/** Folders of every installation. */
export const FOLDERS = ['run', 'edge', 'logs'] as const;

/** Files that a backup keeps separate from the database, and that may be restored before it. */
const KEPT_APART = ['keyring', 'log-store'];

const DATABASE = 'causeway.db';
const LOCK = 'lock';

/**
 * Takes the directory's lock and closes it to other users (0700). `make`: also creates a missing or empty directory. A
 * directory with other content is not touched.
 */
export function openDataDirectory(directory: string, { make }: { readonly make: boolean }): OpenedDirectory {
  try {
    const names = namesIn(directory);
    if (names.length === 0 && !make) return { kind: 'absent' };
    if (names.length > 0 && !isInstallation(names))
      return { kind: 'unusable', problem: `${directory} contains other files and is not a causeway installation` };
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const wasOpen = (statSync(directory).mode & 0o077) !== 0;
    if (wasOpen) chmodSync(directory, 0o700);
    const lock = namingFile(join(directory, LOCK), () => takeLock(join(directory, LOCK)));
    return lock === undefined ? { kind: 'inUse' } : { kind: 'directory', lock, wasOpen };
  } catch (error) {
    return { kind: 'unusable', problem: error instanceof Error ? error.message : String(error) };
  }
}

/** What a directory is found to be. */
export type InspectedDirectory =
  /** There is nothing yet, or only what is restored before a database. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'installation'; readonly isInUse: boolean }
  | { readonly kind: 'unusable'; readonly problem: string };

/** Says what `openDataDirectory` would find, and leaves everything as it is. */
export function inspectDataDirectory(directory: string): InspectedDirectory {
  try {
    const names = namesIn(directory);
    if (names.length === 0) return { kind: 'absent' };
    if (!isInstallation(names))
      return { kind: 'unusable', problem: `${directory} contains other files and is not a causeway installation` };
    const file = join(directory, LOCK);
    return { kind: 'installation', isInUse: names.includes(LOCK) && namingFile(file, () => isLocked(file)) };
  } catch (error) {
    return { kind: 'unusable', problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Lists the directory's entries, without `lost+found`; empty if it does not exist. */
function namesIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory).filter((name) => name !== 'lost+found');
}

/**
 * Whether the entries belong to an installation. The database may come from a backup, and a first start may have been
 * killed early. A `lock` file alone is not enough, as many programs have one.
 */
function isInstallation(names: readonly string[]): boolean {
  if (names.includes(DATABASE) || names.every((name) => KEPT_APART.includes(name))) return true;
  const others = new Set(names).difference(new Set([LOCK, ...FOLDERS, ...KEPT_APART]));
  return names.includes(LOCK) && (others.size === 0 || FOLDERS.every((name) => names.includes(name)));
}

export function databasePath(directory: string): string {
  return join(directory, DATABASE);
}

/** Returns an id that distinguishes the directory from a copy. It must have been opened once. */
export function identify(directory: string): string {
  const { dev, ino } = statSync(join(directory, LOCK));
  return `${dev}:${ino}`;
}

const SQLITE_BUSY = 5;

/**
 * Takes the lock. Returns `undefined` if another process holds it. Throws if the file cannot be created. Never open the
 * file in another way: closing it would release the lock.
 */
export function takeLock(file: string): Disposable | undefined {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // Without a journal file, the lock can be taken on a full disk, too.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    chmodSync(file, 0o600);
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  return { [Symbol.dispose]: () => database.close() };
}

/** Whether a process holds the lock. Changes nothing, since root may ask about the file of another user. */
function isLocked(file: string): boolean {
  const database = new DatabaseSync(file, { timeout: 0, readOnly: true });
  try {
    database.exec('SELECT count(*) FROM sqlite_schema');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    database.close();
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}
