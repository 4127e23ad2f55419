/** A usable cache directory: its folders, and the invalidations and segments that all workers share. */
import { mkdirSync, statfsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode, unlessMissing } from '#lib/file-error.ts';
import { createHeadEncoder, type EncodeHead } from '../head-codec.ts';
import type { KeyHash } from '../key-hash.ts';
import { bodyFileBytes, decodeEntry, type EntryRecord, encodeEntry, type WrittenVariant } from './format.ts';
import type { OpenBodies } from './open-bodies.ts';
import { BODIES_NAME, bodyPath, DATABASE_NAME, FILE_BLOCK_BYTES, SEGMENTS_PREFIX, UNFINISHED_NAME } from './paths.ts';
import { Segments } from './segments.ts';
import { SharedInvalidations } from './shared-invalidations.ts';

export interface VolumeOptions {
  readonly directory: string;
  /** Limit of the directory, for all workers together. */
  readonly maxBytes: number;
  readonly files: OpenBodies;
  readonly encodeHead?: EncodeHead | undefined;
  /** Called with failures for which no call rejects. */
  readonly onProblem: (error: unknown) => void;
}

/** Number of segments that the room is divided into; a segment is removed as a whole to make room. */
const SEGMENTS = 128;
/** Offsets in a segment have 32 bits. */
const MAX_SEGMENT_BYTES = 2 ** 31;
/** Share of the room above which used entries are copied out of old segments. */
const COPY_ABOVE = 3 / 4;
/** Limit of the synchronous read at the start: a starting worker serves nothing meanwhile. */
const READ_FIRST_MS = 50;

export class Volume {
  readonly directory: string;
  /** Folder of the segments. */
  readonly folder: string;
  readonly segmentBytes: number;
  readonly invalidations: SharedInvalidations;
  readonly segments: Segments;
  readonly #unfinished: string;
  readonly #encodeHead: EncodeHead;

  /** Creates missing folders and files; throws if that fails. */
  constructor({ directory, maxBytes, files, encodeHead = createHeadEncoder(), onProblem }: VolumeOptions) {
    this.#encodeHead = encodeHead;
    this.directory = directory;
    this.#unfinished = join(directory, UNFINISHED_NAME);
    mkdirSync(this.#unfinished, { recursive: true, mode: 0o700 });
    this.invalidations = new SharedInvalidations(join(directory, DATABASE_NAME));
    this.folder = join(directory, SEGMENTS_PREFIX + this.invalidations.generation);
    mkdirSync(join(this.folder, BODIES_NAME), { recursive: true, mode: 0o700 });
    const { blocks, bsize } = statfsSync(directory);
    const roomBytes = Math.min(maxBytes, blocks * bsize);
    this.segmentBytes = Math.min(MAX_SEGMENT_BYTES, Math.floor(roomBytes / SEGMENTS));
    this.segments = new Segments({
      folder: this.folder,
      segmentBytes: this.segmentBytes,
      copyAboveBytes: roomBytes * COPY_ABOVE,
      readFirstMs: READ_FIRST_MS,
      files,
      onProblem,
    });
  }

  unfinishedPath(bodyId: string): string {
    return join(this.#unfinished, `${process.pid}-${bodyId}`);
  }

  bodyPath(hash: KeyHash, bodyId: string): string {
    return bodyPath(this.folder, hash, bodyId);
  }

  /**
   * Returns a key's entry; `undefined` if it is absent, damaged or of another version. An entry for which `isKept`
   * returns true may be copied to a new segment. Rejects if the disk fails.
   */
  async readEntry(hash: KeyHash, isKept?: (record: EntryRecord) => boolean): Promise<EntryRecord | undefined> {
    const located = this.segments.find(hash);
    if (located === undefined) return undefined;
    const bytes = await this.segments.read(located);
    const record = bytes === undefined ? undefined : decodeEntry(bytes);
    if (bytes === undefined || record === undefined) this.segments.forget(hash, located);
    else if (isKept?.(record) === true) this.segments.keep(hash, located, bytes);
    return record;
  }

  /**
   * Copies the entry, which is found at once. Returns false if the disk is too slow or the entry too large; the key
   * then has no entry.
   */
  writeEntry(hash: KeyHash, key: string, variants: readonly WrittenVariant[]): boolean {
    const fileBlocks = variants.reduce((sum, variant) => sum + fileBlocksOf(variant), 0);
    const isTaken = this.segments.append(hash, encodeEntry(key, variants, this.#encodeHead), fileBlocks);
    if (!isTaken) this.removeEntry(hash);
    return isTaken;
  }

  removeEntry(hash: KeyHash): void {
    const located = this.segments.find(hash);
    // Other workers learn of the removal only if the disk is not too slow for that too.
    if (located !== undefined && !this.segments.append(hash, [], 0)) this.segments.forget(hash, located);
  }

  /** Moves a finished body file to its permanent path. */
  place(from: string, to: string): Promise<void> {
    return inFolderOf(to, () => rename(from, to));
  }

  async removeBodies(hash: KeyHash, bodyIds: readonly string[]): Promise<void> {
    await Promise.all(bodyIds.map((bodyId) => unlessMissing(rm(this.bodyPath(hash, bodyId)))));
  }

  async close(): Promise<void> {
    this.invalidations.close();
    await this.segments.close();
  }
}

/** Returns the ids of the variants' bodies that have their own files. */
export function bodyFilesOf(variants: EntryRecord['variants']): string[] {
  return variants.flatMap(({ bodyId, inline }) => (inline === undefined ? [bodyId] : []));
}

function fileBlocksOf({ inline, bodyBytes }: WrittenVariant): number {
  return inline === undefined ? Math.ceil(bodyFileBytes(bodyBytes) / FILE_BLOCK_BYTES) : 0;
}

/** Runs `work`, and again after creating the folder if that is missing. */
async function inFolderOf(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    await mkdir(dirname(path), { mode: 0o700 }).catch(() => undefined); // the next line shows a failure
    await work();
  }
}
