/**
 * Keeps a cache directory within its limit. Of all workers that share it one does so: the one that holds the lock of the
 * system on a file, which is free again the moment its holder is gone. It counts the folders bit by bit, hears of what
 * changes through the journal, and removes what SIEVE says. docs/decisions/0071
 */
import { readdir, rm, rmdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { takeLock } from '#lib/data-directory.ts';
import { unlessMissing } from '#lib/file-error.ts';
import { isAlive } from '#lib/signals.ts';
import { joinHash, type KeyHash, splitHash } from '../key-hash.ts';
import { NONE } from '../slot-table.ts';
import type { StoreUsage } from '../store.ts';
import { WeightedIndex } from '../weighted-index.ts';
import { countFolder } from './folder.ts';
import { type DiskRecord, JournalReader } from './journal.ts';
import { LOCK_NAME, OBJECTS_PREFIX, UNFINISHED_NAME } from './paths.ts';
import { bodyFilesOf, type Volume } from './volume.ts';

const LOCK_RETRY_MS = 5_000;
/** Duration of one tick, for counting folders and for making room. */
const WORK_MS = 100;
/** A folder is counted again this often, so that what the journal lost is found. */
const RECOUNT_MS = 2_000;
const UPKEEP_MS = 10_000;
/** Keys removed at once. */
const REMOVE_AT_ONCE = 16;
/** Left free on the disk for others, but not more than a twentieth of the limit, or of the disk. */
const MAX_RESERVE_BYTES = 64 * 1024 * 1024;
/** Nothing that was asked for longer ago is still on its way. */
const FORGET_AFTER_MS = 3_600_000;
const MAX_INVALIDATIONS = 1_000_000;
const FORGET_AT_ONCE = 1_000;
/** An unfinished file that nobody has written to for so long is nobody's. */
const ABANDONED_MS = 3_600_000;

export class Janitor {
  readonly #volume: Volume;
  readonly #maxBytes: number;
  readonly #index = new WeightedIndex();
  readonly #journal: JournalReader;
  #lock: Disposable | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;
  /** Folders to be counted in this round. */
  #folders: string[] | undefined;
  #hasCountedAll = false;
  #recountedAt = 0;
  #keptUpAt = Number.NEGATIVE_INFINITY;
  #capBytes: number;

  constructor(volume: Volume, maxBytes: number) {
    this.#volume = volume;
    this.#maxBytes = maxBytes;
    this.#capBytes = maxBytes;
    this.#journal = new JournalReader(volume.directory);
  }

  /** `undefined` in a worker that does not look after the directory. */
  usage(): StoreUsage | undefined {
    return this.#lock === undefined ? undefined : { bytes: this.#index.weight, objects: this.#index.size };
  }

  /** A bounded piece of work. Rejects when the disk fails. */
  async tick(): Promise<void> {
    const now = performance.now();
    if (!(await this.#holdsLock(now))) return;
    for (const record of await this.#journal.read()) this.#note(record);
    if (now - this.#keptUpAt >= UPKEEP_MS) {
      this.#keptUpAt = now;
      await this.#keepUp();
    }
    await this.#count(now);
    if (this.#hasCountedAll) await this.#readLimit();
    await this.#makeRoom(now);
  }

  /** All is counted and within the limit, or this worker does not look after the directory. */
  get isSettled(): boolean {
    return this.#lock === undefined || (this.#hasCountedAll && this.#index.weight <= this.#capBytes);
  }

  close(): void {
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
  }

  async #holdsLock(now: number): Promise<boolean> {
    if (this.#lock !== undefined) return true;
    if (now - this.#triedAt < LOCK_RETRY_MS) return false;
    this.#triedAt = now;
    this.#lock = takeLock(join(this.#volume.directory, LOCK_NAME));
    if (this.#lock === undefined) return false;
    await this.#journal.restart();
    return true;
  }

  #note({ kind, high, low, bytes }: Omit<DiskRecord, 'writer'>): void {
    const slot = this.#index.find(high, low);
    if (kind === 'used' && slot !== NONE) this.#index.markUsed(slot);
    if (kind === 'removed' && slot !== NONE) this.#index.delete(slot);
    if (kind === 'stored' && slot !== NONE) this.#index.setWeight(slot, bytes);
    if (kind === 'stored' && slot === NONE) this.#index.insert(high, low, bytes);
  }

  async #count(now: number): Promise<void> {
    if (this.#hasCountedAll && now - this.#recountedAt < RECOUNT_MS) return;
    this.#recountedAt = now;
    const isRecount = this.#hasCountedAll;
    do {
      this.#folders ??= await readdir(this.#volume.objects);
      const folder = this.#folders.pop();
      for (const { hash, bytes } of folder === undefined ? [] : await countFolder(this.#volume, folder)) {
        this.#note({ kind: 'stored', ...splitHash(hash), bytes });
      }
      if (this.#folders.length > 0) continue;
      this.#folders = undefined;
      this.#hasCountedAll = true;
    } while (!isRecount && !this.#hasCountedAll && performance.now() - now < WORK_MS);
  }

  /** Less than what was allowed when the disk has not so much room. */
  async #readLimit(): Promise<void> {
    const { bavail, blocks, bsize } = await statfs(this.#volume.directory);
    const reserve = Math.min(MAX_RESERVE_BYTES, Math.min(this.#maxBytes, blocks * bsize) / 20);
    this.#capBytes = Math.max(0, Math.min(this.#maxBytes, this.#index.weight + bavail * bsize - reserve));
  }

  async #makeRoom(now: number): Promise<void> {
    while (this.#index.weight > this.#capBytes && performance.now() - now < WORK_MS * 2) {
      const victims: KeyHash[] = [];
      while (victims.length < REMOVE_AT_ONCE && this.#index.weight > this.#capBytes) {
        const slot = this.#index.victim();
        if (slot === NONE) break;
        victims.push(joinHash(this.#index.high(slot), this.#index.low(slot)));
        this.#index.delete(slot);
      }
      if (victims.length === 0) return;
      await Promise.all(victims.map((hash) => this.#remove(hash)));
    }
  }

  async #remove(hash: KeyHash): Promise<void> {
    const record = await this.#volume.readEntry(hash);
    this.#volume.noteEvicted(hash);
    await this.#volume.removeEntry(hash);
    await this.#volume.removeBodies(hash, bodyFilesOf(record?.variants ?? []));
  }

  async #keepUp(): Promise<void> {
    await this.#sweepUnfinished();
    await this.#removeOtherGenerations();
    await this.#forgetInvalidations();
  }

  /** Files of processes that are gone. */
  async #sweepUnfinished(): Promise<void> {
    const folder = join(this.#volume.directory, UNFINISHED_NAME);
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const file = isOfRunningProcess(name) ? await unlessMissing(stat(path)) : undefined;
      if (file === undefined || Date.now() - file.mtimeMs > ABANDONED_MS) await rm(path, { force: true });
    }
  }

  /** Objects whose file of invalidations is gone: nobody can tell what may still be served. */
  async #removeOtherGenerations(): Promise<void> {
    const { directory, objects } = this.#volume;
    for (const name of await readdir(directory)) {
      const path = join(directory, name);
      if (!name.startsWith(OBJECTS_PREFIX) || path === objects) continue;
      const startedAt = performance.now();
      for (const folder of await readdir(path)) {
        await rm(join(path, folder), { recursive: true, force: true });
        if (performance.now() - startedAt > WORK_MS) return; // the rest in the next round
      }
      await unlessMissing(rmdir(path));
    }
  }

  async #forgetInvalidations(): Promise<void> {
    const { invalidations } = this.#volume;
    const oldest = invalidations.oldest(Date.now() - FORGET_AFTER_MS, MAX_INVALIDATIONS, FORGET_AT_ONCE);
    for (const { hash, at } of oldest) {
      const record = await this.#volume.readEntry(hash);
      // A worker that died between writing it and looking again has left it.
      if (record?.variants.some(({ requestAt }) => requestAt <= at) === true) await this.#remove(hash);
    }
    if (oldest.length > 0) invalidations.forget(oldest);
  }
}

function isOfRunningProcess(name: string): boolean {
  const pid = Number(/^(\d{1,10})-/.exec(name)?.[1] ?? 0);
  return pid !== 0 && isAlive(pid);
}
