/** Where things lie in a cache directory. Pure. */
import { join } from 'node:path';
import type { KeyHash } from '../key-hash.ts';

/** Hexadecimal digits of a hash that name its folder: 4,096 folders, some 600 files in each at 10 GB of small objects. */
const FOLDER_DIGITS = 3;

export const DATABASE_NAME = 'invalidations.db';
export const LOCK_NAME = 'janitor.lock';
export const JOURNAL_NAME = 'journal';
/** Unfinished files: `<process id>-<body id>`. Same file system, so that a rename is atomic. */
export const UNFINISHED_NAME = 'unfinished';
/** `objects-<generation>`: the generation is written in the database, so objects never outlive what invalidates them. */
export const OBJECTS_PREFIX = 'objects-';

function folderPath(objects: string, hash: KeyHash): string {
  return join(objects, hash.slice(0, FOLDER_DIGITS));
}

export function entryPath(objects: string, hash: KeyHash): string {
  return join(folderPath(objects, hash), hash);
}

export function bodyPath(objects: string, hash: KeyHash, bodyId: string): string {
  return join(folderPath(objects, hash), `${hash}.${bodyId}`);
}

/** `bodyId` is absent for the entry itself; `undefined` for a name that is none of ours. */
export function parseFileName(name: string): { readonly hash: KeyHash; readonly bodyId?: string } | undefined {
  const [, hash, bodyId] = /^([0-9a-f]{16})(?:\.([0-9a-f]{16}))?$/.exec(name) ?? [];
  if (hash === undefined) return undefined;
  return bodyId === undefined ? { hash } : { hash, bodyId };
}
