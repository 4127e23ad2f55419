/**
 * All segments of a cache directory, and the place of each key's entry. A worker appends to its own segments. It learns
 * of others' entries by reading the tables of their units: those present at its start in the background, and later
 * those that are appended. If a key has two entries, the one in the later unit counts. docs/decisions/0560
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { hasCode, unlessMissing } from '#lib/file-error.ts';
import { forEachAtOnce } from '#lib/for-each-at-once.ts';
import { joinHash, type KeyHash, splitHash } from '../key-hash.ts';
import { runReads, runReadsInBackground } from './file-reads.ts';
import { FolderWatch } from './folder-watch.ts';
import type { OpenBodies } from './open-bodies.ts';
import { MAX_SLOT, type Place, PlaceIndex, SWEEP_PARTS } from './place-index.ts';
import {
  createSegment,
  type FoundEntry,
  isClosed,
  isIdle,
  isSamePlace,
  isSegmentName,
  nameSegment,
  noteFile,
  type StoreSegment,
  timeAt,
} from './segment.ts';
import { firstToLeave, markOld, totalBytes } from './segment-order.ts';
import { SegmentWriter } from './segment-writer.ts';
import { type EntryRow, readUnit, readUnits, type Unit } from './unit.ts';

/** Delay after which entries that other workers have written are seen. */
const FOLLOW_MS = 1;
/** Segments checked per `FOLLOW_MS`; if there are more, each is checked less often. */
const LOOKED_AT = 8;
/** Segments whose tables are read at the same time. */
const FILL_AT_ONCE = 16;
/** Parts of the index swept per tick: about a millisecond for a million keys. */
const SWEEP_AT_ONCE = 64;

export interface SegmentsOptions {
  readonly folder: string;
  readonly segmentBytes: number;
  /** Total size from which used entries are copied out of old segments. */
  readonly copyAboveBytes: number;
  /**
   * Limit of the synchronous read at the start, so that a small cache is known at once; the rest is read in the
   * background.
   */
  readonly readFirstMs: number;
  readonly files: OpenBodies;
  readonly onProblem: (error: unknown) => void;
}

/** Body files of one entry: their segment, and their size in units of 4 KiB. */
interface BodyFiles {
  readonly segment: StoreSegment;
  readonly blocks: number;
}

export class Segments {
  readonly #options: SegmentsOptions;
  readonly #index = new PlaceIndex();
  readonly #segments = new Map<string, StoreSegment>();
  readonly #slots: (StoreSegment | undefined)[] = [];
  /**
   * Slots of removed segments that the index may still contain, each with the sweep count at which the slot is free
   * again.
   */
  readonly #gone = new Map<number, number>();
  /** Segments to which other workers may append. */
  readonly #tails = new Set<StoreSegment>();
  /** Keys whose entries have body files. */
  readonly #files = new Map<KeyHash, BodyFiles>();
  /** Writers of entries that are put, and of used entries. */
  readonly #writers: { readonly fresh: SegmentWriter; readonly used: SegmentWriter };
  readonly #filling: Promise<void>;
  #lost = 0;
  #isFilled = false;
  #isClosed = false;
  #isPresent = true;
  #newestTime = 0;
  #followedAt = Number.NEGATIVE_INFINITY;
  readonly #watch: FolderWatch;

  /** Throws if the folder cannot be read. */
  constructor(options: SegmentsOptions) {
    this.#options = options;
    this.#watch = new FolderWatch(options.folder);
    this.#writers = { fresh: this.#createWriter(false), used: this.#createWriter(true) };
    this.#list();
    const until = performance.now() + options.readFirstMs;
    const isRead = [...this.#segments.values()].every((segment) => this.#readOn(segment, until));
    this.#filling = isRead ? Promise.resolve() : this.#fill();
    this.#isFilled = isRead;
  }

  /**
   * Whether everything that was in the folder at the start has been read. Until then only this worker's own entries are
   * found.
   */
  get isFilled(): boolean {
    return this.#isFilled;
  }

  filled(): Promise<void> {
    return this.#filling;
  }

  /** Number of keys that have an entry. */
  get entries(): number {
    let entries = 0;
    for (const segment of this.#segments.values()) entries += segment.entries;
    return entries;
  }

  /** Bytes of all segments and of their entries' body files. */
  get bytes(): number {
    return totalBytes(this.#segments.values());
  }

  get count(): number {
    return this.#segments.size;
  }

  /** Whether the folder existed at the last check. */
  get isPresent(): boolean {
    return this.#isPresent;
  }

  find(hash: KeyHash): FoundEntry | undefined {
    const { high, low } = splitHash(hash);
    const place = this.#index.get(high, low);
    const segment = place === undefined ? undefined : this.#slots[place.slot];
    if (place === undefined || place.length === 0 || segment === undefined) return undefined;
    if (!segment.isOwn && !this.#isFilled) return undefined;
    return { segment, offset: place.offset, length: place.length };
  }

  /** Returns the entry's bytes, unverified; `undefined` if the segment is gone. Rejects if the disk fails. */
  async read({ segment, offset, length }: FoundEntry): Promise<Buffer | undefined> {
    const staged = this.#writerOf(segment).read(segment, offset, length);
    if (staged !== undefined) return staged;
    const file = await unlessMissing(this.#options.files.acquire(segment.name, segment.path));
    if (file === undefined) return undefined;
    try {
      const bytes = Buffer.allocUnsafeSlow(length);
      const { bytesRead } = await file.handle.read(bytes, 0, length, offset);
      return bytes.subarray(0, bytesRead);
    } finally {
      file.release();
    }
  }

  /**
   * Copies the key's new entry; without pieces, removes the key. Returns false if the disk is too slow or the entry too
   * large.
   */
  append(hash: KeyHash, pieces: readonly Buffer[], fileBlocks: number, wasUsed = false): boolean {
    const { high, low } = splitHash(hash);
    const present = this.#index.get(high, low);
    const isUsed = wasUsed || (present !== undefined && this.#slots[present.slot]?.holdsUsed === true);
    const { fresh, used } = this.#writers;
    // Seals the other writer's unit, so that the new entry is in the later one.
    if (present !== undefined && this.#timeOf(present) === Number.POSITIVE_INFINITY) (isUsed ? fresh : used).seal();
    const staged = (isUsed ? used : fresh).append(high, low, pieces, fileBlocks);
    if (staged !== undefined) this.#set(staged.segment, staged.row);
    return staged !== undefined;
  }

  /** Copies a used entry to a new segment if its own is old and it is still the key's entry. */
  keep(hash: KeyHash, located: FoundEntry, bytes: Buffer): void {
    if (!located.segment.isOld || !isSamePlace(this.find(hash), located)) return;
    this.append(hash, [bytes], this.#files.get(hash)?.blocks ?? 0, true);
  }

  /** Forgets an entry that cannot be read, unless the key has a new one. */
  forget(hash: KeyHash, located: FoundEntry): void {
    const { high, low } = splitHash(hash);
    if (!isSamePlace(this.find(hash), located)) return;
    this.#delete(high, low);
  }

  /**
   * Reads entries that other workers have appended, at most once a millisecond. Synchronous, since a look-up waits for
   * it.
   */
  follow(now: number): void {
    if (now - this.#followedAt < FOLLOW_MS * Math.max(1, this.#tails.size / LOOKED_AT)) return;
    this.#followedAt = now;
    const state = this.#watch.check(now);
    this.#isPresent = state !== 'gone';
    if (state === 'gone') return;
    if (state === 'changed') this.#list();
    if (this.#isFilled) for (const segment of this.#tails) this.#readOn(segment);
  }

  /** Does a bounded piece of upkeep; must be called regularly. */
  tick(): void {
    if (this.#isFilled)
      for (const segment of this.#tails) if (isClosed(segment, Date.now())) this.#tails.delete(segment);
    const isKept = (slot: number) => this.#slots[slot] !== undefined;
    const swept = this.#gone.size === 0 ? 0 : this.#index.sweep(SWEEP_AT_ONCE, isKept);
    for (const [slot, until] of this.#gone) if (swept >= until) this.#gone.delete(slot);
    markOld([...this.#segments.values()], this.bytes > this.#options.copyAboveBytes);
  }

  /** Returns the segment to remove first, apart from `leaving`; `undefined` if none may be removed. */
  oldest(leaving: ReadonlySet<StoreSegment> = new Set()): StoreSegment | undefined {
    const now = Date.now();
    const isAppendedTo = (segment: StoreSegment) => this.#tails.has(segment) && !isIdle(segment, now);
    return firstToLeave(
      [...this.#segments.values()].filter((segment) => !leaving.has(segment)),
      isAppendedTo,
    );
  }

  /** Returns the keys whose entries in the segment have body files. */
  withFiles(segment: StoreSegment): KeyHash[] {
    return [...this.#files].filter(([, files]) => files.segment === segment).map(([hash]) => hash);
  }

  /**
   * Removes a segment to make room. Keys with older entries in other segments are removed by rows that outlive the
   * segment: otherwise a worker that starts later would take those entries for the current ones.
   */
  async remove(segment: StoreSegment): Promise<void> {
    await this.flush();
    if (segment.isOwn) this.#writerOf(segment).abandon(segment); // it gets no more, not even those rows
    const others = [...this.#segments.values()].filter((each) => each !== segment);
    const oldest = Math.min(...others.map(({ times }) => times[0] ?? Number.POSITIVE_INFINITY));
    const hide = ({ time, table }: Unit) => {
      if (time > oldest) for (const row of table) this.#hideOlder(segment, row);
    };
    const units = segment.starts.map((start) => readUnit({ segment: segment.name, start }, hide));
    await runReadsInBackground(segment.path, units, () => this.#isClosed);
    if (this.#isClosed) return; // not all rows may have been read
    await this.flush();
    this.#drop(segment);
    await rm(segment.path, { force: true });
  }

  #hideOlder(segment: StoreSegment, { high, low, offset }: EntryRow): void {
    const place = this.#index.get(high, low);
    if (place?.slot !== segment.slot || place.offset !== offset || !place.hidesOlder) return;
    this.append(joinHash(high, low), [], 0, true); // if the disk is too slow or full, an older response may come back
  }

  /** Number of entries that could not be written so far. */
  get lost(): number {
    return this.#lost;
  }

  /** Resolves when all appended entries are in their files, or lost. */
  async flush(): Promise<void> {
    await Promise.all([this.#writers.fresh.flush(), this.#writers.used.flush()]);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#writers.fresh.close(), this.#writers.used.close()]);
    await this.#filling;
  }

  #createWriter(holdsUsed: boolean): SegmentWriter {
    return new SegmentWriter({
      segmentBytes: this.#options.segmentBytes,
      openSegment: () => this.#add(nameSegment(randomBytes(8).toString('hex'), holdsUsed), true),
      nextTime: () => {
        this.#newestTime = Math.max(Date.now(), this.#newestTime + 1);
        return this.#newestTime;
      },
      onLost: (segment, rows) => this.#lose(segment, rows),
      onProblem: this.#options.onProblem,
    });
  }

  #writerOf({ holdsUsed }: StoreSegment): SegmentWriter {
    return holdsUsed ? this.#writers.used : this.#writers.fresh;
  }

  #list(): void {
    const names = new Set(readdirSync(this.#options.folder));
    for (const segment of this.#segments.values()) {
      if (segment.isCreated && !names.has(segment.name)) this.#drop(segment);
    }
    for (const name of names) if (isSegmentName(name) && !this.#segments.has(name)) this.#add(name, false);
  }

  #add(name: string, isOwn: boolean): StoreSegment | undefined {
    let slot = 1;
    while (this.#slots[slot] !== undefined || this.#gone.has(slot)) slot += 1;
    if (slot > MAX_SLOT) return undefined;
    const segment = createSegment(this.#options.folder, name, slot, isOwn);
    this.#slots[slot] = segment;
    this.#segments.set(name, segment);
    if (!isOwn) this.#tails.add(segment);
    return segment;
  }

  /** Forgets all entries of a segment whose file was removed. */
  #drop(segment: StoreSegment): void {
    if (!this.#segments.delete(segment.name)) return;
    for (const hash of this.withFiles(segment)) this.#files.delete(hash);
    this.#tails.delete(segment);
    this.#slots[segment.slot] = undefined;
    this.#gone.set(segment.slot, this.#index.sweep(0, () => true) + SWEEP_PARTS);
    if (segment.isOwn) this.#writerOf(segment).abandon(segment);
  }

  /** Reads the rest of the folder in the background. Never rejects. */
  async #fill(): Promise<void> {
    await forEachAtOnce(this.#segments.values(), FILL_AT_ONCE, (segment) => this.#fillFrom(segment));
    this.#isFilled = !this.#isClosed;
  }

  async #fillFrom(segment: StoreSegment): Promise<void> {
    if (segment.isOwn || this.#isClosed) return;
    try {
      noteFile(segment, await stat(segment.path));
      await runReadsInBackground(segment.path, [this.#units(segment)], () => this.#isClosed);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) this.#options.onProblem(error);
    }
  }

  /**
   * Reads the segment's new units. Returns false if it stopped at `until` (milliseconds of `performance.now()`) before
   * the end.
   */
  #readOn(segment: StoreSegment, until = Number.POSITIVE_INFINITY): boolean {
    if (performance.now() > until) return false;
    const file = statSync(segment.path, { throwIfNoEntry: false });
    if (file === undefined || file.size === segment.seenBytes) return true;
    noteFile(segment, file);
    return runReads(segment.path, this.#units(segment), until);
  }

  #units(segment: StoreSegment) {
    return readUnits(segment.name, segment.end, (unit) => this.#take(segment, unit));
  }

  #take(segment: StoreSegment, { start, end, time, isLast, table }: Unit): void {
    segment.starts.push(start);
    segment.times.push(time);
    segment.end = end;
    this.#newestTime = Math.max(this.#newestTime, time);
    if (isLast) this.#tails.delete(segment);
    if (this.#slots[segment.slot] !== segment) return;
    for (const row of table) {
      const present = this.#index.get(row.high, row.low);
      if (present === undefined || this.#timeOf(present) <= time) this.#set(segment, row);
      else if (!present.hidesOlder) this.#index.set(row.high, row.low, { ...present, hidesOlder: true });
    }
  }

  #timeOf({ slot, offset }: Place): number {
    const segment = this.#slots[slot];
    return segment === undefined ? 0 : timeAt(segment, offset);
  }

  #set(segment: StoreSegment, { high, low, offset, length, fileBlocks }: EntryRow): void {
    const hidesOlder = this.#index.get(high, low) !== undefined;
    this.#uncount(high, low);
    this.#index.set(high, low, { slot: segment.slot, offset, length, hasFiles: fileBlocks > 0, hidesOlder });
    if (length > 0) segment.entries += 1;
    if (fileBlocks === 0) return;
    this.#files.set(joinHash(high, low), { segment, blocks: fileBlocks });
    segment.fileBlocks += fileBlocks;
  }

  #delete(high: number, low: number): void {
    this.#uncount(high, low);
    this.#index.delete(high, low);
  }

  /** Removes the key's entry from the counts of its segment. */
  #uncount(high: number, low: number): void {
    const place = this.#index.get(high, low);
    const segment = place === undefined ? undefined : this.#slots[place.slot];
    if (place === undefined || segment === undefined) return;
    if (place.length > 0) segment.entries -= 1;
    if (!place.hasFiles) return;
    const hash = joinHash(high, low);
    segment.fileBlocks -= this.#files.get(hash)?.blocks ?? 0;
    this.#files.delete(hash);
  }

  /** Forgets entries of this worker that could not be written. */
  #lose(segment: StoreSegment, rows: readonly EntryRow[]): void {
    this.#lost += rows.length;
    for (const { high, low, offset } of rows) {
      const place = this.#index.get(high, low);
      if (place?.slot !== segment.slot || place.offset !== offset) continue;
      this.#delete(high, low);
    }
    if (!segment.isCreated) this.#drop(segment);
  }
}
