/** Files with secrets: readable by their owner only, and written atomically. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { hasCode, namingFile } from './file-error.ts';

export type PrivateFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  /** Other users have access; `mode` in octal. */
  | { readonly kind: 'exposed'; readonly mode: string }
  | { readonly kind: 'unreadable'; readonly reason: string };

export function readPrivateFile(file: string): PrivateFile {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return { kind: 'missing' };
    if ((found.mode & 0o077) !== 0) return { kind: 'exposed', mode: (found.mode & 0o777).toString(8) };
    return { kind: 'text', text: readFileSync(file, 'utf8') };
  } catch (error) {
    return { kind: 'unreadable', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Creates the file unless it exists: the second of two concurrent callers leaves the first one's text. */
export function makePrivateFile(file: string, text: string): void {
  const temporary = writeBeside(file, text);
  try {
    linkSync(temporary, file);
    syncFolder(file);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

export function replacePrivateFile(file: string, text: string): void {
  renameSync(writeBeside(file, text), file);
  syncFolder(file);
}

/** Syncs the folder, so that the file's name is on disk, too, before anything is written that needs it. */
function syncFolder(file: string): void {
  const handle = openSync(dirname(file), 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function writeBeside(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = openSync(temporary, 'wx', 0o600);
  try {
    namingFile(temporary, () => writeFileSync(handle, text)); // all of it, or an error
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  return temporary;
}
