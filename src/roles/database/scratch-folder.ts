/** A folder for the trial of a backup, and the removal of those that killed commands have left. */
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { takeLock } from '#lib/data-directory.ts';

export interface ScratchFolder extends Disposable {
  readonly path: string;
}

const PREFIX = '.verify-';
/** Held as long as the folder is in use. */
const LOCK = 'lock';
/** Another command may take a new folder, which is not locked yet, for one that was left. */
const MAX_TRIES = 10;

/** Makes a folder within `base`. Disposing removes it. */
export function makeScratchFolder(base: string): ScratchFolder {
  removeLeft(base);
  for (let tries = 1; ; tries++) {
    const path = mkdtempSync(join(base, PREFIX));
    const lock = lockFolder(path);
    if (lock !== undefined) return { path, [Symbol.dispose]: () => remove(path, lock) };
    if (tries === MAX_TRIES) throw new Error(`${base}: folders that are made there disappear at once`);
  }
}

function removeLeft(base: string): void {
  for (const name of readdirSync(base).filter((one) => one.startsWith(PREFIX))) {
    const path = join(base, name);
    if (!isOurs(path)) continue;
    const lock = lockFolder(path);
    if (lock !== undefined) remove(path, lock);
  }
}

/** Whether nobody else can have put anything there: in a folder for all users names say nothing. */
function isOurs(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
}

/** Returns `undefined` if another process uses the folder, or has just removed it. */
function lockFolder(path: string): Disposable | undefined {
  try {
    return takeLock(join(path, LOCK));
  } catch (error) {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    throw error;
  }
}

function remove(path: string, lock: Disposable): void {
  rmSync(path, { recursive: true, force: true });
  lock[Symbol.dispose]();
}
