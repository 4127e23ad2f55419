/** Exports the database of the settings to a file, and imports it from one. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, lstatSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Config } from '#config';
import { exportDatabase, importDatabase } from '#db/export/export.ts';
import { type OpenExport, openExport } from '#db/export/read.ts';
import { loadKeyring } from '#db/secrets/keyring.ts';
import { systemClock } from '#lib/clock.ts';
import { describeFileError } from '#lib/file-error.ts';
import { createLogger } from '#lib/logger.ts';
import { databaseOptions } from './database-options.ts';

/** `-` as a file: standard output, or standard input. */
export const STANDARD = '-';

/** The file gets its name once it is complete and on the disk; it then replaces an earlier file of that name. */
export async function exportToFile(config: Config, file: string, withSecrets: boolean) {
  const toFile = (write: (text: string) => Promise<void>) =>
    exportDatabase(databaseOptions(config, commandLog()), { withSecrets, now: systemClock(), write });
  if (file === STANDARD) return toFile(writeToStandardOutput);
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw new Error(`${file} exists and is not a file`);
  const unfinished = `${file}.${randomBytes(6).toString('hex')}.part`;
  const orName = (error: unknown) => {
    throw ofFile(error, `${file} cannot be written`);
  };
  try {
    const handle = await open(unfinished, 'wx', 0o600).catch(orName);
    const summary = await useAndClose(handle, async () => {
      const done = await toFile((text) => handle.writeFile(text).catch(orName));
      await handle.sync().catch(orName);
      return done;
    });
    await rename(unfinished, file).catch(orName);
    const directory = await open(dirname(file));
    await useAndClose(directory, () => directory.sync());
    return summary;
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** Reads the head. A file that is not an export is refused before anything is created. Disposing closes the file. */
export async function openFile(file: string): Promise<OpenExport & Disposable> {
  const bytes = file === STANDARD ? process.stdin : createReadStream(file);
  const close = () => void bytes.destroy();
  try {
    return { ...(await openExport(bytes)), [Symbol.dispose]: close };
  } catch (error) {
    close();
    throw ofFile(error, `${file} cannot be read`);
  }
}

/** The data directory is locked by the caller. */
export function importFromFile(config: Config, source: OpenExport) {
  return importDatabase(databaseOptions(config, commandLog()), source, () => loadKeyring(config.keyringFile));
}

function commandLog() {
  return createLogger({ level: 'error', name: 'command' });
}

async function writeToStandardOutput(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** Returns a short message for a system error about a file that a user has named; other errors unchanged. */
function ofFile(error: unknown, problem: string): unknown {
  return error instanceof Error && 'syscall' in error && 'code' in error
    ? new Error(`${problem}: ${describeFileError(error)}`, { cause: error })
    : error;
}

async function useAndClose<T>(handle: FileHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await handle.close();
  }
}
