/**
 * Files that have no name: each is removed as soon as it is open, so its space is free when its process is gone, however that
 * ends. What a killed process could not remove in between is removed at the next start.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface TemporaryFiles {
  /** Rejects when the directory cannot be used. */
  open(): Promise<FileHandle>;
  /** Runs the work on a file when it is its turn. Rejects as the work does. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Concurrent operations: as many as the file system thread pool has threads. More would only queue there, ahead of
 * other work.
 */
const MAX_AT_ONCE = 4;

/** The directory is this service's own; it is made where it is missing. */
export function createTemporaryFiles(directory: string): TemporaryFiles {
  let ready: Promise<void> | undefined = prepare(directory);
  ready.catch(() => undefined); // callers of `open` get the error
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    open: async () => {
      ready ??= prepare(directory);
      await ready.catch((error: unknown) => {
        ready = undefined; // the next one tries again
        throw error;
      });
      const path = join(directory, randomUUID());
      const file = await open(path, 'wx+', 0o600);
      await rm(path, { force: true }).catch(async (error: unknown) => {
        await file.close();
        throw error;
      });
      return file;
    },
    inTurn: async (work) => {
      if (running >= MAX_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
      else running++;
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) running--;
        else next();
      }
    },
  };
}

/** A file that another worker has just opened may be among those that are removed: it removes it anyhow. */
async function prepare(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await Promise.all((await readdir(directory)).map((name) => rm(join(directory, name), { force: true })));
}
