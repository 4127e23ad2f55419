/** Counts what one folder of a cache directory holds, and removes bodies that no entry speaks of. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '#lib/file-error.ts';
import type { KeyHash } from '../key-hash.ts';
import { parseFileName } from './paths.ts';
import { bodyFilesOf, type Volume } from './volume.ts';

/** Age below which a body's entry may still be missing. */
const YOUNG_MS = 60_000;
const FILE_SYSTEM_BLOCK_BYTES = 4096;

export interface CountedKey {
  readonly hash: KeyHash;
  /** Bytes of the entry and its bodies' files, as the file system counts. */
  readonly bytes: number;
}

interface Files {
  hasEntry: boolean;
  bytes: number;
  readonly bodies: { readonly bodyId: string; readonly bytes: number; readonly isYoung: boolean }[];
}

export async function countFolder(volume: Volume, folder: string): Promise<readonly CountedKey[]> {
  const path = join(volume.objects, folder);
  const names = (await unlessMissing(readdir(path))) ?? [];
  const keys = new Map<KeyHash, Files>();
  await Promise.all(
    names.map(async (name) => {
      const parsed = parseFileName(name);
      const file = parsed === undefined ? undefined : await unlessMissing(stat(join(path, name)));
      if (parsed === undefined || file === undefined) return;
      const files = keys.get(parsed.hash) ?? { hasEntry: false, bytes: 0, bodies: [] };
      keys.set(parsed.hash, files);
      const bytes = allocatedBytes(file.size);
      files.bytes += bytes;
      if (parsed.bodyId === undefined) files.hasEntry = true;
      else files.bodies.push({ bodyId: parsed.bodyId, bytes, isYoung: Date.now() - file.mtimeMs < YOUNG_MS });
    }),
  );
  for (const [hash, files] of keys) await removeStrays(volume, hash, files);
  return [...keys].filter(([, { hasEntry }]) => hasEntry).map(([hash, { bytes }]) => ({ hash, bytes }));
}

/** What a file takes on disk. */
export function allocatedBytes(sizeBytes: number): number {
  return Math.ceil(sizeBytes / FILE_SYSTEM_BLOCK_BYTES) * FILE_SYSTEM_BLOCK_BYTES;
}

/** Bodies that lost a race between two workers, or whose worker died before it wrote the entry. */
async function removeStrays(volume: Volume, hash: KeyHash, files: Files): Promise<void> {
  if (files.bodies.every(({ isYoung }) => isYoung)) return;
  const record = files.hasEntry ? await volume.readEntry(hash) : undefined;
  const known = new Set(bodyFilesOf(record?.variants ?? []));
  for (const { bodyId, bytes, isYoung } of files.bodies) {
    if (isYoung || known.has(bodyId)) continue;
    await rm(volume.bodyPath(hash, bodyId), { force: true });
    files.bytes -= bytes;
  }
}
