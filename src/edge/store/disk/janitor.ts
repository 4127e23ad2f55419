/**
 * Keeps a cache directory within its limit. One of its workers does so: the holder of a system lock on a file, which is
 * released when the process ends. It removes whole segments, in the order of `segment-order.ts`, with the body files of
 * their entries, and body files that no entry refers to. docs/decisions/0562
 */
import { readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { takeLock } from '#lib/data-directory.ts';
import { unlessMissing } from '#lib/file-error.ts';
import { forEachAtOnce } from '#lib/for-each-at-once.ts';
import { isAlive } from '#lib/signals.ts';
import type { KeyHash } from '../key-hash.ts';
import type { StoreUsage } from '../store.ts';
import { BODIES_NAME, FOREIGN_NAMES, LOCK_NAME, parseBodyName, SEGMENTS_PREFIX, UNFINISHED_NAME } from './paths.ts';
import type { StoreSegment } from './segment.ts';
import { bytesOf } from './segment-order.ts';
import type { InvalidatedKey } from './shared-invalidations.ts';
import { bodyFilesOf, type Volume } from './volume.ts';

const LOCK_RETRY_MS = 5_000;
/** Limit of one tick's work, for making room and for removing foreign files. */
const WORK_MS = 100;
/**
 * Segments that are removed at the same time, and entries of each that are read: each step waits for a turn of the
 * event loop, and a busy worker fills a small segment in a few.
 */
const EVICT_AT_ONCE = 8;
const READ_AT_ONCE = 8;
/**
 * Interval at which the next folder of bodies is swept, all within nine minutes. After a folder with bodies that have
 * no entry, the next one is swept at the next tick.
 */
const SWEEP_MS = 2_000;
const UPKEEP_MS = 10_000;
/** Free space left for other programs, at most a twentieth of the limit or of the disk. */
const MAX_RESERVE_BYTES = 64 * 1024 * 1024;
/** Room per key, which limits the number of keys. */
const MIN_KEY_BYTES = 4096;
/** Limit of keys, whose index takes about 400 MB of each worker's memory. */
const MAX_KEYS = 16_000_000;
/** Limit of segments. The index numbers them up to 1,023, and small ones of workers that ended early count too. */
const MAX_SEGMENTS = 512;
/** Age after which an invalidation may be forgotten: no response requested earlier is still in flight. */
const FORGET_AFTER_MS = 3_600_000;
const MAX_INVALIDATIONS = 1_000_000;
const FORGET_AT_ONCE = 1_000;
/** Time without a write after which an unfinished file is removed. */
const ABANDONED_MS = 3_600_000;
/** Age up to which a body's entry may still be missing: units are written every 100 ms, but a disk may be slow. */
const YOUNG_MS = 20_000;

export class Janitor {
  readonly #volume: Volume;
  readonly #maxBytes: number;
  readonly #maxKeys: number;
  #lock: Disposable | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;
  /** Folders of bodies that are still to be swept in this round. */
  #folders: string[] = [];
  #sweptAt = Number.NEGATIVE_INFINITY;
  /** Bytes of bodies without an entry that the last sweep of each folder left, since they were young. */
  readonly #lostBytes = new Map<string, number>();
  #keptUpAt = Number.NEGATIVE_INFINITY;
  #capBytes: number;
  #hasForeign = true;
  /** Keys with old invalidations whose entries were removed in the last round. */
  #removed: readonly InvalidatedKey[] = [];

  constructor(volume: Volume, maxBytes: number) {
    this.#volume = volume;
    this.#maxBytes = maxBytes;
    this.#maxKeys = Math.min(MAX_KEYS, Math.ceil(maxBytes / MIN_KEY_BYTES));
    this.#capBytes = maxBytes;
  }

  /** Returns `undefined` in a worker that is not the janitor. */
  usage(): StoreUsage | undefined {
    const { bytes, entries } = this.#volume.segments;
    return this.#lock === undefined ? undefined : { bytes, objects: entries };
  }

  /** Does a bounded piece of work. `now` is of a clock that never steps back. Rejects if the disk fails. */
  async tick(now: number): Promise<void> {
    if (!this.#holdsLock(now)) return;
    const isFilled = this.#volume.segments.isFilled;
    const isUpkeepDue = now - this.#keptUpAt >= UPKEEP_MS;
    if (this.#hasForeign || isUpkeepDue) this.#hasForeign = await this.#removeForeign();
    if (isUpkeepDue) {
      this.#keptUpAt = now;
      await this.#sweepUnfinished();
      if (isFilled) await this.#forgetInvalidations();
    }
    if (!isFilled) return;
    await this.#readLimit();
    await this.#makeRoom();
    if (now - this.#sweptAt < SWEEP_MS) return;
    const hasLost = await this.#sweepBodies();
    // More are likely, and they take room that nothing else can use.
    this.#sweptAt = hasLost ? Number.NEGATIVE_INFINITY : now;
  }

  /** Whether the directory is within its limit, or this worker is not its janitor. */
  get isSettled(): boolean {
    return this.#lock === undefined || (this.#volume.segments.isFilled && this.#leaving().length === 0);
  }

  close(): void {
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
  }

  #holdsLock(now: number): boolean {
    if (this.#lock !== undefined) return true;
    if (now - this.#triedAt < LOCK_RETRY_MS) return false;
    this.#triedAt = now;
    this.#lock = takeLock(join(this.#volume.directory, LOCK_NAME));
    return this.#lock !== undefined;
  }

  /** Lowers the limit if the disk has too little free space. */
  async #readLimit(): Promise<void> {
    const { bavail, blocks, bsize } = await statfs(this.#volume.directory);
    const reserve = Math.min(MAX_RESERVE_BYTES, Math.min(this.#maxBytes, blocks * bsize) / 20);
    this.#capBytes = Math.max(0, Math.min(this.#maxBytes, this.#volume.segments.bytes + bavail * bsize - reserve));
  }

  /**
   * Returns the next segments to remove; none if the directory is within its limit. Room for one segment is kept free
   * until the next tick.
   */
  #leaving(): readonly StoreSegment[] {
    const { segments, segmentBytes } = this.#volume;
    const leaving = new Set<StoreSegment>();
    let { entries, count } = segments;
    let bytes = segments.bytes + this.#allLostBytes;
    while (bytes > this.#capBytes - segmentBytes || entries > this.#maxKeys || count > MAX_SEGMENTS) {
      const segment = leaving.size < EVICT_AT_ONCE ? segments.oldest(leaving) : undefined;
      if (segment === undefined) break;
      leaving.add(segment);
      bytes -= bytesOf(segment);
      entries -= segment.entries;
      count -= 1;
    }
    return [...leaving];
  }

  get #allLostBytes(): number {
    let bytes = 0;
    for (const lost of this.#lostBytes.values()) bytes += lost;
    return bytes;
  }

  async #makeRoom(): Promise<void> {
    const startedAt = performance.now();
    for (let leaving = this.#leaving(); leaving.length > 0; leaving = this.#leaving()) {
      await forEachAtOnce(leaving, EVICT_AT_ONCE, (segment) => this.#evict(segment));
      if (performance.now() - startedAt > WORK_MS) return;
    }
  }

  async #evict(segment: StoreSegment): Promise<void> {
    const { segments } = this.#volume;
    const bodies = new Map<KeyHash, readonly string[]>();
    await forEachAtOnce(segments.withFiles(segment), READ_AT_ONCE, async (hash) => {
      bodies.set(hash, bodyFilesOf((await this.#volume.readEntry(hash))?.variants ?? []));
    });
    await segments.remove(segment);
    await forEachAtOnce(bodies, READ_AT_ONCE, async ([hash, bodyIds]) => {
      // A later entry of the key may refer to them.
      if (segments.find(hash) === undefined) await this.#volume.removeBodies(hash, bodyIds);
    });
  }

  async #sweepUnfinished(): Promise<void> {
    const folder = join(this.#volume.directory, UNFINISHED_NAME);
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const file = isOfRunningProcess(name) ? await unlessMissing(stat(path)) : undefined;
      if (file === undefined || Date.now() - file.mtimeMs > ABANDONED_MS) await rm(path, { force: true });
    }
  }

  /**
   * Removes the objects of lost invalidation files, since it is unknown which may still be served, and those of earlier
   * versions. Returns whether some are left.
   */
  async #removeForeign(): Promise<boolean> {
    const { directory, folder } = this.#volume;
    const startedAt = performance.now();
    for (const name of await readdir(directory)) {
      const path = join(directory, name);
      if (path === folder || !(name.startsWith(SEGMENTS_PREFIX) || FOREIGN_NAMES.test(name))) continue;
      const inside = (await stat(path)).isDirectory() ? await readdir(path) : [];
      for (const each of inside) {
        await rm(join(path, each), { recursive: true, force: true });
        if (performance.now() - startedAt > WORK_MS) return true;
      }
      await rm(path, { recursive: true, force: true });
    }
    return false;
  }

  /**
   * Removes the entries of keys whose invalidation is about to be forgotten, even if this worker knows no entry:
   * another may. The invalidations are forgotten in the next round, when all workers know of the removals.
   */
  async #forgetInvalidations(): Promise<void> {
    const { invalidations, segments } = this.#volume;
    if (this.#removed.length > 0) invalidations.forget(this.#removed);
    const { lost } = segments;
    this.#removed = invalidations.oldest(Date.now() - FORGET_AFTER_MS, MAX_INVALIDATIONS, FORGET_AT_ONCE);
    for (const { hash, at } of this.#removed) {
      const record = await this.#volume.readEntry(hash);
      if (record?.variants.every(({ requestAt }) => requestAt > at) === true) continue;
      if (!segments.append(hash, [], 0)) this.#removed = [];
      await this.#volume.removeBodies(hash, bodyFilesOf(record?.variants ?? []));
    }
    await segments.flush();
    if (segments.lost > lost) this.#removed = []; // tried again in the next round
  }

  /**
   * Removes bodies in one folder that lost a race between two workers, or whose worker died before it wrote the entry,
   * and counts those that are too young to be removed. Returns whether there were any.
   */
  async #sweepBodies(): Promise<boolean> {
    const bodies = join(this.#volume.folder, BODIES_NAME);
    if (this.#folders.length === 0) this.#folders = await readdir(bodies);
    const folder = this.#folders.pop();
    if (folder === undefined) return false;
    let hasLost = false;
    let youngBytes = 0;
    for (const name of (await unlessMissing(readdir(join(bodies, folder)))) ?? []) {
      const path = join(bodies, folder, name);
      const file = await unlessMissing(stat(path));
      const body = parseBodyName(name);
      if (file === undefined || body === undefined) continue;
      const record = await this.#volume.readEntry(body.hash);
      if (bodyFilesOf(record?.variants ?? []).includes(body.bodyId)) continue;
      hasLost = true;
      if (Date.now() - file.ctimeMs < YOUNG_MS) youngBytes += file.size;
      else await rm(path, { force: true });
    }
    if (youngBytes > 0) this.#lostBytes.set(folder, youngBytes);
    else this.#lostBytes.delete(folder);
    return hasLost;
  }
}

function isOfRunningProcess(name: string): boolean {
  const pid = Number(/^(\d{1,10})-/.exec(name)?.[1] ?? 0);
  return pid !== 0 && isAlive(pid);
}
