/** Backups of the database: exports with the time in their names, of which the newest are kept, and the trial of one. */
import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { mkdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import type { Config } from '#config';
import { type Verification, verifyExport } from '#db/export/verify.ts';
import type { ExportSummary } from '#db/export/write.ts';
import { loadKeyring } from '#db/secrets/keyring.ts';
import { databasePath } from '#lib/data-directory.ts';
import { DAY_MS } from '#lib/durations.ts';
import { createLogger } from '#lib/logger.ts';
import { exportToFile, openFile, STANDARD } from './database-file.ts';
import { makeScratchFolder } from './scratch-folder.ts';

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
  const left = findLeftParts(listFiles(directory), now);
  for (const name of left) await rm(join(directory, name), { force: true });
  await refuseFullDisk(config, directory, isVerified);
  const file = join(directory, backupName(now));
  const summary = await exportToFile(config, file, true);
  if (isVerified) {
    const { differences } = await verifyFile(config, { file, scratch: undefined, needsRing: true });
    if (differences.length > 0)
      throw new Error(
        `${file} does not restore what was exported, and no other backup was removed:\n${differences.join('\n')}`,
      );
  }
  const old = findOldBackups(
    listFiles(directory).map(({ name }) => name),
    backupKeep,
  );
  for (const name of old) await rm(join(directory, name), { force: true }); // another backup may have removed it
  return { ...summary, file, removed: [...left, ...old] };
}

/** The secrets in a backup are sealed with the keys of the ring: a reader of both can open them. */
function refuseKeyring(keyring: string, directory: string): void {
  const path = relative(directory, keyring);
  if (path.startsWith('..')) return;
  throw new Error(`the key ring ${keyring} lies in the backup directory ${directory}: keep them apart`);
}

/** Age from which the newest backup is worth a warning. */
export const OLD_BACKUP_MS = 2 * DAY_MS;

interface FoundFile {
  readonly name: string;
  readonly changedAt: number;
  readonly sizeBytes: number;
}

/** Lists the files of a directory, without links and folders. */
function listFiles(directory: string): readonly FoundFile[] {
  return readdirSync(directory).flatMap((name) => {
    const found = lstatSync(join(directory, name), { throwIfNoEntry: false });
    return found?.isFile() === true ? [{ name, changedAt: found.mtimeMs, sizeBytes: found.size }] : [];
  });
}

/** An export that is running writes more often. */
const LEFT_AFTER_MS = DAY_MS;

/** Returns the unfinished files of backups that were killed. Pure. */
export function findLeftParts(files: readonly FoundFile[], now: number): readonly string[] {
  const left = files.filter(({ name, changedAt }) => PART_NAME.test(name) && changedAt < now - LEFT_AFTER_MS);
  return left.map(({ name }) => name);
}

/** Throws if the disk has less room than a backup of about the size of the last one takes: the service may be writing there. */
async function refuseFullDisk(config: Config, directory: string, isVerified: boolean): Promise<void> {
  const files = listFiles(directory);
  const [newest] = listBackups(files.map(({ name }) => name));
  const lastBytes = files.find(({ name }) => name === newest)?.sizeBytes ?? databaseBytes(config);
  // The trial writes the database once more, and a journal of it.
  const neededBytes = lastBytes * (isVerified ? 3 : 1);
  const { bavail, bsize } = await statfs(directory);
  const freeBytes = bavail * bsize;
  if (freeBytes >= neededBytes) return;
  throw new Error(
    `the disk of ${directory} has ${inMb(freeBytes)} free, and a backup takes about ${inMb(neededBytes)}: make room, or set backup-directory to another disk`,
  );
}

function databaseBytes({ databaseUrl, dataDir }: Config): number {
  return databaseUrl === undefined ? (statSync(databasePath(dataDir), { throwIfNoEntry: false })?.size ?? 0) : 0;
}

function inMb(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}

const PART_NAME = /^causeway-\d{8}T\d{6}Z\.ndjson\.[0-9a-f]{12}\.part$/;
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

export interface BackupTrial {
  readonly file: string;
  /** Where the database is made for a while; absent: in the folder of the file. */
  readonly scratch: string | undefined;
  /** Whether a missing key ring is an error; otherwise secrets stay closed without it. */
  readonly needsRing: boolean;
}

/**
 * Restores an export into a new SQLite database, which is removed again, and compares. Throws with a message for people if
 * the file cannot be restored.
 */
export async function verifyFile(config: Config, { file, scratch, needsRing }: BackupTrial): Promise<Verification> {
  using source = await openFile(file);
  using folder = makeScratchFolder(scratch ?? (file === STANDARD ? tmpdir() : dirname(resolve(file))));
  const log = createLogger({ level: 'error', name: 'command' });
  const findRing = () => (needsRing || existsSync(config.keyringFile) ? loadKeyring(config.keyringFile) : undefined);
  return await verifyExport({ file: join(folder.path, 'restored.db'), log }, source, findRing);
}
