/**
 * How commands of this machine find the running service: a 0600 file in the data directory, written anew at each start.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identify } from '#lib/data-directory.ts';
import { namingFile } from '#lib/file-error.ts';
import { isAlive } from '#lib/signals.ts';

export interface ControlFile {
  /** Process id of the supervisor. */
  readonly pid: number;
  /** The data directory that it was written for: in a copy of that directory it is ignored. */
  readonly directory: string;
  readonly url: string;
  readonly localSecret: string;
  /** PEM: control's certificate if it speaks TLS. */
  readonly certificate?: string;
}

function controlFilePath(dataDir: string): string {
  return join(dataDir, 'run', 'control.json');
}

/** A reader sees the old content or the new, never half of it. Throws with the file's name. */
export function writeControlFile(dataDir: string, written: Omit<ControlFile, 'directory'>): void {
  const path = controlFilePath(dataDir);
  const content: ControlFile = { ...written, directory: identify(dataDir) };
  namingFile(path, () => writeFileSync(`${path}.new`, `${JSON.stringify(content)}\n`, { mode: 0o600 }));
  renameSync(`${path}.new`, path);
}

export function removeControlFile(dataDir: string): void {
  rmSync(controlFilePath(dataDir), { force: true });
}

/** Returns `undefined` if no service has written the file, or its supervisor is gone. */
export function findControl(dataDir: string): ControlFile | undefined {
  try {
    // Only `writeControlFile` writes it.
    const control = JSON.parse(readFileSync(controlFilePath(dataDir), 'utf8')) as ControlFile;
    return control.directory === identify(dataDir) && isAlive(control.pid) ? control : undefined;
  } catch {
    return undefined; // not there, or not ours to read
  }
}
