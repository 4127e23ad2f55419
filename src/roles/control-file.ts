/** How commands of this machine find the running service: a 0600 file in the data directory, written anew at each start. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ControlFile {
  /** Of the supervisor. */
  readonly pid: number;
  readonly url: string;
  readonly localSecret: string;
  /** PEM; what control shows when it speaks TLS. */
  readonly certificate?: string;
}

export function controlFilePath(dataDir: string): string {
  return join(dataDir, 'run', 'control.json');
}

/** A reader sees the old content or the new, never half of it. */
export function writeControlFile(dataDir: string, content: ControlFile): void {
  const path = controlFilePath(dataDir);
  writeFileSync(`${path}.new`, `${JSON.stringify(content)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function removeControlFile(dataDir: string): void {
  rmSync(controlFilePath(dataDir), { force: true });
}
