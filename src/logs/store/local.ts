/**
 * Blobs as files of a directory: written under another name, synced, then renamed, so that a file is complete or
 * absent.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { hasCode } from '#lib/file-error.ts';
import { type BlobKey, BlobMissing, type BlobStore } from './blob-store.ts';

/** Creates the directory with the first blob. */
export function localBlobStore(directory: string): BlobStore {
  const pathOf = (key: BlobKey) => join(directory, key);
  return {
    async put(key, bytes) {
      const path = pathOf(key);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const temporary = join(dirname(path), `.${randomUUID()}`);
      try {
        await writeSynced(temporary, bytes);
        await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
      await syncDirectory(dirname(path));
    },
    async read(key, { start, end }) {
      const handle = await open(pathOf(key)).catch((error: unknown) => {
        throw hasCode(error, 'ENOENT') ? new BlobMissing(key, { cause: error }) : error;
      });
      if (start < end) return handle.createReadStream({ start, end: end - 1 });
      await handle.close();
      return Readable.from([]);
    },
    async delete(key) {
      const path = pathOf(key);
      await rm(path, { force: true });
      await removeEmpty(dirname(path), directory);
    },
  };
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Syncs a directory, so that renames in it survive a power failure. */
async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes empty directories upwards, up to the store's own. */
async function removeEmpty(directory: string, root: string): Promise<void> {
  for (let path = directory; path !== root && path.startsWith(root); path = dirname(path)) {
    try {
      await rmdir(path);
    } catch {
      return;
    }
  }
}
