/** Names and paths in a cache directory. Pure. */
import { join } from 'node:path';
import type { KeyHash } from '../key-hash.ts';

/**
 * Hexadecimal digits of a hash that name its folder of bodies: 256 folders, each with about 160 files at 10 GB of the
 * smallest bodies.
 */
const FOLDER_DIGITS = 2;

/** Unit of the disk space of files. */
export const FILE_BLOCK_BYTES = 4096;

export const DATABASE_NAME = 'invalidations.db';
export const LOCK_NAME = 'janitor.lock';
/** Folder of unfinished files, `<process id>-<body id>`. On the same file system, so that a rename is atomic. */
export const UNFINISHED_NAME = 'unfinished';
/**
 * `segments-<generation>`: the generation is stored in the database, so that objects never outlive their invalidations.
 */
export const SEGMENTS_PREFIX = 'segments-';
/** Folder of body files, inside the folder of segments. */
export const BODIES_NAME = 'bodies';
/** Names that earlier versions used here. */
export const FOREIGN_NAMES = /^(?:objects-.*|journal(?:\.old)?)$/;

export function bodyPath(segments: string, hash: KeyHash, bodyId: string): string {
  return join(segments, BODIES_NAME, hash.slice(0, FOLDER_DIGITS), `${hash}.${bodyId}`);
}

/** Returns `undefined` if the name is not that of a body file. */
export function parseBodyName(name: string): { readonly hash: KeyHash; readonly bodyId: string } | undefined {
  const [, hash, bodyId] = /^([0-9a-f]{16})\.([0-9a-f]{16})$/.exec(name) ?? [];
  return hash === undefined || bodyId === undefined ? undefined : { hash, bodyId };
}
