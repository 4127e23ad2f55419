/** Checks of what the service writes to: the data directory with its owner, room on the disks, the key ring. */
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DoctorFinding } from '#cli/command/doctor-finding.ts';
import type { Config } from '#config';
import { loadKeyring } from '#db/secrets/keyring.ts';
import { databasePath, type InspectedDirectory } from '#lib/data-directory.ts';
import { DAY_MS } from '#lib/durations.ts';
import { FULL_SHARE, NEARLY_FULL_SHARE } from '#model/edge-health.ts';
import { listBackups, OLD_BACKUP_MS } from '../database/backup.ts';
import { percent } from '../edge/own-checks.ts';
import { messageOf, ok, problem, warning } from './findings.ts';

/** `inspected`: what the data directory was found to be. */
export function checkDataDirectory(
  { dataDir }: Pick<Config, 'dataDir'>,
  inspected: InspectedDirectory,
): readonly DoctorFinding[] {
  if (inspected.kind === 'unusable')
    return [
      problem(
        'data directory',
        `${dataDir} cannot be used: ${inspected.problem}`,
        'run the command as the user of the service or as root, or specify another directory (setting data-dir)',
      ),
    ];
  const existing = nearestFolder(dataDir);
  try {
    accessSync(existing, constants.W_OK);
  } catch (error) {
    const found = `${existing} cannot be written: ${messageOf(error)}`;
    return [problem('data directory', found, 'let the user of the service write there, or set data-dir')];
  }
  if (inspected.kind === 'absent') return [ok('data directory', `${dataDir} is made by the first start`)];
  const strangers = filesOfOthers(dataDir);
  if (strangers.length > 0)
    return [
      problem(
        'data directory',
        `${strangers.join(', ')} in ${dataDir} belong to another user than the directory`,
        `give everything to the user of the service: chown -R --reference=${dataDir} ${dataDir}`,
      ),
    ];
  return [ok('data directory', `${dataDir}${inspected.isInUse ? ', in use by the running service' : ''}`)];
}

/** Names in the data directory that belong to another user than the directory, as after a command that root has run. */
function filesOfOthers(dataDir: string): readonly string[] {
  const { uid } = statSync(dataDir);
  return readdirSync(dataDir).filter((name) => {
    const found = statSync(join(dataDir, name), { throwIfNoEntry: false });
    return name !== 'lost+found' && found !== undefined && found.uid !== uid;
  });
}

/** The folder itself, or the nearest one above it that exists. */
function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path));
}

const GIB = 2 ** 30;

/** A file system that the service writes to. */
interface Volume {
  readonly directory: string;
  readonly sizeBytes: number;
  readonly freeBytes: number;
  /** 0 to 1. */
  readonly usedShare: number;
  /** 0 to 1; 0 if the file system does not count its files. */
  readonly usedInodesShare: number;
  /** What the settings let the service write there. */
  readonly allowedBytes: number;
}

/** Pure. */
export function judgeVolume(volume: Volume): DoctorFinding {
  const { directory, sizeBytes, freeBytes, usedShare, usedInodesShare, allowedBytes } = volume;
  const found = `the file system of ${directory} is ${percent(usedShare)} full, ${inGib(freeBytes)} are free`;
  const advice = 'make room, or lower cache-disk-size, buffer-disk-size and log-spool';
  if (usedShare >= FULL_SHARE) return problem('disk', found, advice);
  if (usedInodesShare >= FULL_SHARE)
    return problem(
      'disk',
      `the file system of ${directory} has used ${percent(usedInodesShare)} of its inodes`,
      'delete files',
    );
  if (usedShare >= NEARLY_FULL_SHARE) return warning('disk', found, advice);
  if (allowedBytes > sizeBytes)
    return warning(
      'disk',
      `the settings let the service write ${inGib(allowedBytes)} to the file system of ${directory}, which has ${inGib(sizeBytes)}`,
      'lower cache-disk-size, buffer-disk-size, log-spool and live-record-spool, or use a larger disk',
    );
  return ok('disk', found);
}

function inGib(bytes: number): string {
  return `${(bytes / GIB).toFixed(1)} GB`;
}

type RoomConfig = Pick<
  Config,
  | 'roles'
  | 'dataDir'
  | 'cacheDirectory'
  | 'cacheDiskBytes'
  | 'bufferDiskSize'
  | 'logSpoolBytes'
  | 'sinkSpool'
  | 'liveRecordSpool'
>;

export async function checkDisk(config: RoomConfig): Promise<readonly DoctorFinding[]> {
  const isEdge = config.roles.includes('edge');
  const rooms = [
    { directory: config.dataDir, bytes: isEdge ? config.bufferDiskSize + config.logSpoolBytes + config.sinkSpool : 0 },
    { directory: config.dataDir, bytes: config.roles.includes('live') ? config.liveRecordSpool : 0 },
    ...(isEdge && config.cacheDiskBytes > 0
      ? [{ directory: config.cacheDirectory, bytes: config.cacheDiskBytes }]
      : []),
  ].map((room) => ({ ...room, existing: nearestFolder(room.directory) }));
  const byVolume = Map.groupBy(rooms, ({ existing }) => statSync(existing).dev);
  return Promise.all(
    [...byVolume.values()].map(async ([first, ...others]) => {
      const { existing, directory, bytes } = first ?? { existing: '/', directory: '/', bytes: 0 };
      const { blocks, bavail, bsize, files, ffree } = await statfs(existing);
      return judgeVolume({
        directory,
        sizeBytes: blocks * bsize,
        freeBytes: bavail * bsize,
        usedShare: blocks === 0 ? 0 : 1 - bavail / blocks,
        usedInodesShare: files === 0 ? 0 : 1 - ffree / files,
        allowedBytes: others.reduce((sum, other) => sum + other.bytes, bytes),
      });
    }),
  );
}

/** Reads the key ring, but makes none. */
export function checkKeyring({
  keyringFile,
  dataDir,
  databaseUrl,
}: Pick<Config, 'keyringFile' | 'dataDir' | 'databaseUrl'>): readonly DoctorFinding[] {
  if (!existsSync(keyringFile)) {
    const isNew = databaseUrl === undefined && !existsSync(databasePath(dataDir));
    if (isNew) return [ok('key ring', `${keyringFile} is made by the first start`)];
    const found = `${keyringFile} is missing`;
    return [
      warning(
        'key ring',
        found,
        'put its copy there; without it no stored secret can be read (a new one is made if nothing is sealed)',
      ),
    ];
  }
  try {
    const keys = Object.keys(loadKeyring(keyringFile).checks()).length;
    return [
      ok(
        'key ring',
        `${keyringFile} has ${keys} ${keys === 1 ? 'key' : 'keys'}; keep a copy apart from backups of the database`,
      ),
    ];
  } catch (error) {
    return [problem('key ring', messageOf(error), 'control does not start without it')];
  }
}

const HOW_TO_BACK_UP = 'enable causeway-backup.timer, or run "causeway db backup" daily';

type BackupConfig = Pick<Config, 'backupDirectory' | 'dataDir' | 'databaseUrl'>;

/** Looks at the time of the newest backup. */
export function checkBackups(
  { backupDirectory, dataDir, databaseUrl }: BackupConfig,
  now: number,
): readonly DoctorFinding[] {
  if (databaseUrl === undefined && !existsSync(databasePath(dataDir)))
    return [ok('backup', 'there is nothing to back up yet')];
  if (backupDirectory === undefined)
    return [
      warning(
        'backup',
        'backup-directory is not set',
        `set it and ${HOW_TO_BACK_UP}, unless you have backups of your own`,
      ),
    ];
  const [newest] = existsSync(backupDirectory) ? listBackups(readdirSync(backupDirectory)) : [];
  if (newest === undefined) return [warning('backup', `${backupDirectory} has no backup`, HOW_TO_BACK_UP)];
  const { mtimeMs, dev } = statSync(join(backupDirectory, newest));
  const days = ((now - mtimeMs) / DAY_MS).toFixed(1);
  const found = `the newest backup in ${backupDirectory} is ${days} days old`;
  if (now - mtimeMs > OLD_BACKUP_MS) return [warning('backup', found, HOW_TO_BACK_UP)];
  const isSameDisk = databaseUrl === undefined && dev === statSync(dataDir).dev;
  return [ok('backup', `${found}${isSameDisk ? ', and on the disk of the database: keep copies elsewhere' : ''}`)];
}
