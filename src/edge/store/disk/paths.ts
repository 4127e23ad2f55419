/** Where things lie in a cache directory. Pure. */
import { join } from 'node:path';
import type { KeyHash } from '../key-hash.ts';

/** Hexadecimal digits of a hash that name its folder of bodies: 256 folders, some 160 files in each at 10 GB of the smallest. */
const FOLDER_DIGITS = 2;

/** What a file takes on disk is a multiple of it. */
export const FILE_BLOCK_BYTES = 4096;

export const DATABASE_NAME = 'invalidations.db';
export const LOCK_NAME = 'janitor.lock';
/** Unfinished files: `<process id>-<body id>`. Same file system, so that a rename is atomic. */
export const UNFINISHED_NAME = 'unfinished';
/** `segments-<generation>`: the generation is written in the database, so objects never outlive what invalidates them. */
export const SEGMENTS_PREFIX = 'segments-';
/** Folder of the segments' folder. */
export const BODIES_NAME = 'bodies';
/** What earlier versions kept here. */
export const FOREIGN_NAMES = /^(?:objects-.*|journal(?:\.old)?)$/;

export function bodyPath(segments: string, hash: KeyHash, bodyId: string): string {
  return join(segments, BODIES_NAME, hash.slice(0, FOLDER_DIGITS), `${hash}.${bodyId}`);
}

/** `undefined` for a name that is none of ours. */
export function parseBodyName(name: string): { readonly hash: KeyHash; readonly bodyId: string } | undefined {
  const [, hash, bodyId] = /^([0-9a-f]{16})\.([0-9a-f]{16})$/.exec(name) ?? [];
  return hash === undefined || bodyId === undefined ? undefined : { hash, bodyId };
}
