/** A cache directory that can be used: its folders, and what all workers share of it: its invalidations, its journal, its keys. */
import { mkdirSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode, unlessMissing } from '#lib/file-error.ts';
import type { KeyHash } from '../key-hash.ts';
import { newBodyId } from './body-file.ts';
import { decodeEntry, type EntryRecord, encodeEntry } from './format.ts';
import { JournalWriter } from './journal.ts';
import { KnownKeys } from './known-keys.ts';
import { bodyPath, DATABASE_NAME, entryPath, OBJECTS_PREFIX, UNFINISHED_NAME } from './paths.ts';
import { SharedInvalidations } from './shared-invalidations.ts';

export interface VolumeOptions {
  readonly directory: string;
  /** Room for all workers together. */
  readonly maxBytes: number;
  /** Told of failures that no call is rejected with. */
  readonly onProblem: (error: unknown) => void;
}

export class Volume {
  readonly directory: string;
  readonly objects: string;
  readonly invalidations: SharedInvalidations;
  readonly journal: JournalWriter;
  readonly keys: KnownKeys;
  readonly #unfinished: string;

  /** Makes what is missing; throws when that fails. */
  constructor({ directory, maxBytes, onProblem }: VolumeOptions) {
    this.directory = directory;
    this.#unfinished = join(directory, UNFINISHED_NAME);
    mkdirSync(this.#unfinished, { recursive: true, mode: 0o700 });
    this.invalidations = new SharedInvalidations(join(directory, DATABASE_NAME));
    this.objects = join(directory, OBJECTS_PREFIX + this.invalidations.generation);
    mkdirSync(this.objects, { recursive: true, mode: 0o700 });
    this.journal = new JournalWriter(directory, onProblem);
    const { writer } = this.journal;
    this.keys = new KnownKeys({ directory, objects: this.objects, maxBytes, writer, onProblem });
  }

  /** Says that the key's files are these bytes together now; 0: there are none. */
  noteStored(hash: KeyHash, bytes: number): void {
    if (bytes === 0) this.keys.delete(hash);
    else this.keys.add(hash);
    this.journal.noteStored(hash, bytes);
  }

  /** Says, before it is done, that the key's files are removed to make room. */
  noteEvicted(hash: KeyHash): void {
    this.keys.delete(hash);
    this.journal.noteEvicted(hash);
  }

  unfinishedPath(bodyId: string): string {
    return join(this.#unfinished, `${process.pid}-${bodyId}`);
  }

  bodyPath(hash: KeyHash, bodyId: string): string {
    return bodyPath(this.objects, hash, bodyId);
  }

  /** `undefined`: not there, torn or foreign. Throws when the disk fails. */
  async readEntry(hash: KeyHash): Promise<EntryRecord | undefined> {
    const file = await unlessMissing(readFile(entryPath(this.objects, hash)));
    return file === undefined ? undefined : decodeEntry(file);
  }

  /**
   * Replaces it as a whole; gives the file's length. `isNew`: the key probably has none yet. Then it is written in its place, which
   * spares a rename: until it is whole its checksums fail, and it counts as absent. docs/decisions/0552
   */
  async writeEntry(hash: KeyHash, record: EntryRecord, isNew = false): Promise<number> {
    const path = entryPath(this.objects, hash);
    const file = encodeEntry(record);
    if (isNew && (await createFile(path, file))) return file.length;
    const unfinished = this.unfinishedPath(newBodyId());
    try {
      await writeFile(unfinished, file, { flag: 'wx', mode: 0o600 });
      await this.place(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => undefined); // swept later
      throw error;
    }
    return file.length;
  }

  /** Moves a finished file to where it is found. */
  place(from: string, to: string): Promise<void> {
    return inFolderOf(to, () => rename(from, to));
  }

  async removeEntry(hash: KeyHash): Promise<void> {
    await unlessMissing(rm(entryPath(this.objects, hash)));
  }

  async removeBodies(hash: KeyHash, bodyIds: readonly string[]): Promise<void> {
    await Promise.all(bodyIds.map((bodyId) => unlessMissing(rm(this.bodyPath(hash, bodyId)))));
  }

  close(): void {
    this.journal.close();
    this.keys.close();
    this.invalidations.close();
  }
}

/** The bodies of these variants that have files of their own. */
export function bodyFilesOf(variants: EntryRecord['variants']): string[] {
  return variants.flatMap(({ bodyId, inline }) => (inline === undefined ? [bodyId] : []));
}

/** False: there is a file already. */
async function createFile(path: string, bytes: Buffer): Promise<boolean> {
  try {
    await inFolderOf(path, () => writeFile(path, bytes, { flag: 'wx', mode: 0o600 }));
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    await rm(path, { force: true }).catch(() => undefined); // it reads as absent anyway
    throw error;
  }
}

/** Makes the folder if that is what is missing. */
async function inFolderOf(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    await mkdir(dirname(path), { mode: 0o700 }).catch(() => undefined); // there, or the next line says what is wrong
    await work();
  }
}
