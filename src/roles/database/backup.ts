/** Backups of the database: exports with the time in their names, of which the newest are kept, and the trial of one. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import type { Config } from '#config';
import { type Verification, verifyExport } from '#db/export/verify.ts';
import type { ExportSummary } from '#db/export/write.ts';
import { loadKeyring } from '#db/secrets/keyring.ts';
import { createLogger } from '#lib/logger.ts';
import { exportToFile, openFile, STANDARD } from './database-file.ts';

interface BackupReport extends ExportSummary {
  readonly file: string;
  /** Files that were removed, without their folder. */
  readonly removed: readonly string[];
}

/**
 * Exports to a new file of the backup directory, and removes the oldest ones beyond `backup-keep`. `isVerified`: the file
 * is tried before anything is removed. Throws with a message for people.
 */
export async function backUp(config: Config, now: number, isVerified: boolean): Promise<BackupReport> {
  const { backupDirectory: directory, backupKeep } = config;
  if (directory === undefined) throw new Error('set backup-directory, a directory for backups of the database');
  refuseKeyring(config.keyringFile, directory);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, backupName(now));
  const summary = await exportToFile(config, file, true);
  if (isVerified) {
    const { differences } = await verifyFile(config, file, undefined);
    if (differences.length > 0)
      throw new Error(
        `${file} does not restore what was exported, and no other backup was removed:\n${differences.join('\n')}`,
      );
  }
  const removed = findOldBackups(readdirSync(directory), backupKeep);
  for (const name of removed) await rm(join(directory, name));
  return { ...summary, file, removed };
}

/** The secrets in a backup are sealed with the keys of the ring: a reader of both can open them. */
function refuseKeyring(keyring: string, directory: string): void {
  const path = relative(directory, keyring);
  if (path.startsWith('..')) return;
  throw new Error(`the key ring ${keyring} lies in the backup directory ${directory}: keep them apart`);
}

const BACKUP_NAME = /^causeway-\d{8}T\d{6}Z\.ndjson$/;

function backupName(now: number): string {
  return `causeway-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')}.ndjson`;
}

/** Returns the backups among the names of a directory, the newest first. Pure. */
export function listBackups(names: readonly string[]): readonly string[] {
  return names
    .filter((name) => BACKUP_NAME.test(name))
    .sort()
    .reverse();
}

/** Returns those of the names that are backups beyond the newest `keep`. Pure. */
export function findOldBackups(names: readonly string[], keep: number): readonly string[] {
  return listBackups(names).slice(keep);
}

/**
 * Restores an export into a new SQLite database in a folder of `scratch`, which is removed again, and compares. The
 * folder of the file if `scratch` is absent. Throws with a message for people if the file cannot be restored.
 */
export async function verifyFile(config: Config, file: string, scratch: string | undefined): Promise<Verification> {
  using source = await openFile(file);
  const folder = mkdtempSync(join(scratch ?? (file === STANDARD ? tmpdir() : dirname(resolve(file))), '.verify-'));
  const log = createLogger({ level: 'error', name: 'command' });
  try {
    return await verifyExport({ file: join(folder, 'restored.db'), log }, source, () =>
      loadKeyring(config.keyringFile),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
