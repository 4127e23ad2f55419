/**
 * The disk tier: one file per key with its heads and small bodies, one more for each larger body, shared by all workers of the
 * machine. Files are replaced by renames, never changed. Without a disk that works it finds and takes nothing.
 */
import type { CacheOptions } from '#http/options.ts';
import { putVariant } from '#http/variants.ts';
import { createKeyHasher, type HashKey, type KeyHash } from '../key-hash.ts';
import { readWhole, wrapBytes } from '../memory-body.ts';
import { isSameResponse } from '../same-response.ts';
import type { CachedResponse, CacheEntry, CacheStore, StoredBody, StoreRefusal, StoreUsage } from '../store.ts';
import { createWriter, type Spill, type WriterBudget } from '../writer.ts';
import { BlockMemory, BodyFileWriter, newBodyId } from './body-file.ts';
import { DiskBody } from './disk-body.ts';
import { allocatedBytes } from './folder.ts';
import { bodyFileBytes, type VariantRecord } from './format.ts';
import { DiskHealth, type OnDiskProblem } from './health.ts';
import { HeardInvalidations } from './heard-invalidations.ts';
import { Janitor } from './janitor.ts';
import { Lanes } from './lanes.ts';
import { OpenBodies } from './open-bodies.ts';
import { createSpill } from './spill.ts';
import { Unplaced } from './unplaced.ts';
import { bodyFilesOf, Volume } from './volume.ts';

export interface DiskStoreOptions {
  readonly directory: string;
  /** Room for all workers of the directory together. */
  readonly maxBytes: number;
  readonly onProblem: OnDiskProblem;
  /** Shared with another tier that is asked for the same keys. */
  readonly hashKey?: HashKey;
}

/** One object may take this part of the disk. */
const MAX_SHARE = 1 / 4;
/** Bodies on their way in may take as much again as this part. */
const MAX_UNFINISHED_SHARE = 1 / 2;
/** Smaller bodies lie in their key's own file, as far as they are not more than this together. */
const MAX_INLINE_BYTES = 32 * 1024;
const MAX_INLINE_TOTAL_BYTES = 128 * 1024;
/** Memory of all unfinished bodies that are still small; the others are in files. */
const GATHER_BYTES = 32 * 1024 * 1024;
/** Blocks on their way to the disk. */
const BLOCKS_BYTES = 64 * 1024 * 1024;
/** Bodies and keys that wait to be written; what comes then is not stored. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const MAX_WAITING_KEYS = 5_000;
/** A look-up waits this long for its key's own writing; then it is a miss. */
const MAX_WAIT_MS = 1_000;
/** How often the directory is looked after. */
const TICK_MS = 250;

export class DiskStore implements CacheStore {
  readonly maxBodyBytes: number;
  readonly invalidations: HeardInvalidations;
  readonly #options: DiskStoreOptions;
  readonly #hashKey: HashKey;
  readonly #health: DiskHealth;
  readonly #lanes: Lanes;
  readonly #files = new OpenBodies();
  readonly #blocks = new BlockMemory(BLOCKS_BYTES);
  readonly #gathering: WriterBudget;
  /** Bodies in files that are not finished. */
  readonly #unfinished: WriterBudget;
  readonly #unplaced = new Unplaced();
  /** Files of bodies that came from memory, so that a new head does not write them again. */
  readonly #written = new WeakMap<StoredBody, DiskBody>();
  readonly #timer: NodeJS.Timeout;
  #volume: Volume | undefined;
  #janitor: Janitor | undefined;
  #ticking: Promise<void> | undefined;
  #waitingBytes = 0;
  #isClosed = false;

  constructor(options: DiskStoreOptions) {
    this.#options = options;
    this.#hashKey = options.hashKey ?? createKeyHasher();
    this.maxBodyBytes = Math.floor(options.maxBytes * MAX_SHARE);
    this.#gathering = { leftBytes: Math.min(GATHER_BYTES, this.maxBodyBytes) };
    this.#unfinished = { leftBytes: Math.floor(options.maxBytes * MAX_UNFINISHED_SHARE) };
    this.#health = new DiskHealth(options.onProblem);
    const onProblem = (error: unknown) => this.#fail(error);
    this.#lanes = new Lanes(onProblem);
    this.invalidations = new HeardInvalidations({ open: () => this.#use()?.invalidations, onProblem });
    this.#timer = setInterval(() => void this.#tick(), TICK_MS).unref(); // never rejects
    this.#use();
  }

  find(key: string): Promise<CacheEntry | undefined> | CacheEntry | undefined {
    const hash = this.#hashKey(key);
    if (this.#lanes.has(hash)) return this.#read(key, hash);
    return this.#mayHave(hash) ? this.#read(key, hash) : this.#entry(hash, []);
  }

  /** What `find` gives is never older than the directory. */
  findNewer(): undefined {
    return undefined;
  }

  refuses(bodyBytes: number | undefined): StoreRefusal | undefined {
    return bodyBytes !== undefined && bodyBytes > this.maxBodyBytes ? undefined : this.#refusal();
  }

  openWriter() {
    return createWriter({
      maxBodyBytes: this.maxBodyBytes,
      maxMemoryBytes: MAX_INLINE_BYTES,
      budget: this.#gathering,
      openSpill: () => this.openSpill(),
    });
  }

  /** `undefined` when nothing can be written now. */
  openSpill(): Spill | undefined {
    const volume = this.#use();
    if (volume === undefined || this.#refusal() !== undefined) return undefined;
    const writer = this.#openFile(volume);
    return createSpill(writer, {
      budget: this.#unfinished,
      // A failure has been noted; else it did not keep up.
      onRefused: () => this.#refusal() ?? this.#health.note('storeBusy', undefined),
      finish: (sizeBytes) => {
        const body = this.#body(undefined, writer.bodyId, sizeBytes, writer.path, writer.finish());
        return this.#unplaced.add(body, performance.now());
      },
    });
  }

  put(key: string, response: CachedResponse, options: CacheOptions): void {
    const hash = this.#hashKey(key);
    const { body } = response;
    const waits = body instanceof DiskBody ? 0 : body.sizeBytes;
    const isBusy = this.#waitingBytes + waits > MAX_WAITING_BYTES || this.#lanes.size >= MAX_WAITING_KEYS;
    if (isBusy) this.#health.note('storeBusy', undefined);
    if (isBusy || this.#refusal() !== undefined || body.sizeBytes > this.maxBodyBytes) {
      // What is there would be older than what the caller now believes to be stored.
      if (!isBusy) this.#lanes.run(hash, () => this.#drop(hash, (variant) => variant.varyKey === response.varyKey));
      this.#abandon(body);
      return;
    }
    const release = body.hold();
    if (release === undefined) return;
    this.#waitingBytes += waits;
    const isKnown = this.#mayHave(hash);
    this.#volume?.keys.add(hash);
    this.#lanes.run(hash, async () => {
      try {
        await this.#store(key, hash, { response, options, isKnown });
      } finally {
        release();
        this.#waitingBytes -= waits;
      }
    });
  }

  remove(key: string, response: CachedResponse): void {
    const hash = this.#hashKey(key);
    this.#lanes.run(hash, () => this.#drop(hash, (variant) => isSameResponse(variant, response)));
  }

  invalidate(key: string, at: number): void {
    const hash = this.#hashKey(key);
    this.invalidations.record(hash, at);
    this.#lanes.run(hash, () => this.#drop(hash, ({ requestAt }) => requestAt <= at));
  }

  usage(): StoreUsage {
    return this.#janitor?.usage() ?? { bytes: 0, objects: 0 };
  }

  readonly diskUsage = (): StoreUsage => this.usage();

  /** Everything that was put is on disk, and the directory is within its limit if this worker looks after it. */
  async settle(): Promise<void> {
    await this.#lanes.settled();
    await this.#tick(); // one that was under way may not have seen the last of it
    do await this.#tick();
    while (this.#janitor?.isSettled === false && this.#refusal() === undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#lanes.settled();
    await this.#tick();
    // What the janitor has removed since; nothing is written behind the end.
    await this.#volume?.journal.flush().catch((error) => this.#fail(error));
    const keys = this.#volume?.keys;
    this.#isClosed = true;
    this.#files.closeIdle();
    this.#close();
    await keys?.filled(); // it stops at the next folder
  }

  async #read(key: string, hash: KeyHash): Promise<CacheEntry | undefined> {
    if (!(await this.#lanes.isIdleWithin(hash, MAX_WAIT_MS))) return undefined;
    const volume = this.#use();
    if (volume === undefined) return this.#entry(hash, []);
    try {
      const record = await volume.readEntry(hash);
      const variants = record?.key === key ? record.variants : [];
      if (variants.length > 0) volume.journal.noteUsed(hash);
      return this.#entry(
        hash,
        variants.map((variant) => this.#toResponse(volume, hash, variant)),
      );
    } catch (error) {
      this.#fail(error);
      return this.#entry(hash, []);
    }
  }

  /** Whether the disk must be asked for the key. */
  #mayHave(hash: KeyHash): boolean {
    try {
      return this.#use()?.keys.mayHave(hash, performance.now()) === true;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  async #store(key: string, hash: KeyHash, { response, options, isKnown }: Put): Promise<void> {
    const volume = this.#use();
    if (volume === undefined || this.invalidations.refuses(hash, response.requestAt))
      return this.#abandon(response.body);
    const record = isKnown ? await volume.readEntry(hash) : undefined;
    const since = this.invalidations.at(hash);
    const present = record?.key === key ? record.variants.filter(({ requestAt }) => requestAt > since) : [];
    const added = await this.#place(volume, hash, response, present);
    if (added === undefined) return;
    const { variants } = putVariant(present, added, options);
    const bytes = await volume.writeEntry(hash, { key, variants }, !isKnown);
    const kept = bodyFilesOf(variants);
    const before = [...bodyFilesOf(record?.variants ?? []), ...bodyFilesOf([added])];
    await volume.removeBodies(
      hash,
      before.filter((bodyId) => !kept.includes(bodyId)),
    );
    this.#noteStored(volume, hash, bytes, variants);
    // Another worker may have invalidated it between the look and the write.
    const latest = this.invalidations.at(hash);
    if (variants.some(({ requestAt }) => requestAt <= latest))
      await this.#drop(hash, ({ requestAt }) => requestAt <= latest);
  }

  /** Sees to it that the body is in a place that lasts. `undefined`: it could not be written. */
  async #place(
    volume: Volume,
    hash: KeyHash,
    response: CachedResponse,
    present: readonly VariantRecord[],
  ): Promise<VariantRecord | undefined> {
    const { body } = response;
    const inlineBytes = present.reduce((sum, { inline }) => sum + (inline?.length ?? 0), 0);
    const canInline = body.sizeBytes <= MAX_INLINE_BYTES && inlineBytes + body.sizeBytes <= MAX_INLINE_TOTAL_BYTES;
    if (!(body instanceof DiskBody) && canInline) {
      return { ...response, bodyId: '', bodyBytes: body.sizeBytes, inline: await readWhole(body) };
    }
    const file = body instanceof DiskBody ? body : (this.#written.get(body) ?? (await this.#writeBody(volume, body)));
    if (file === undefined || !(await file.written)) return undefined;
    const path = volume.bodyPath(hash, file.bodyId);
    if (file.path !== path) await file.moveTo(path, hash, (from, to) => volume.place(from, to));
    return { ...response, bodyId: file.bodyId, bodyBytes: body.sizeBytes, inline: undefined };
  }

  async #writeBody(volume: Volume, body: StoredBody): Promise<DiskBody | undefined> {
    const writer = this.#openFile(volume);
    for await (const piece of body.read({ first: 0, last: body.sizeBytes - 1 })) {
      await writer.drained();
      if (writer.add(piece)) continue;
      await writer.discard();
      return undefined;
    }
    const file = this.#body(undefined, writer.bodyId, body.sizeBytes, writer.path, writer.finish());
    this.#written.set(body, file);
    return file;
  }

  /** Removes the variants that match, and the key's file with the last one. */
  async #drop(hash: KeyHash, isDropped: (variant: VariantRecord) => boolean): Promise<void> {
    const volume = this.#use();
    const record = await volume?.readEntry(hash);
    if (volume === undefined || record === undefined) return;
    const variants = record.variants.filter((variant) => !isDropped(variant));
    if (variants.length === record.variants.length) return;
    let bytes = 0;
    if (variants.length === 0) await volume.removeEntry(hash);
    else bytes = await volume.writeEntry(hash, { key: record.key, variants });
    await volume.removeBodies(hash, bodyFilesOf(record.variants.filter(isDropped)));
    this.#noteStored(volume, hash, bytes, variants);
  }

  #noteStored(volume: Volume, hash: KeyHash, entryBytes: number, variants: readonly VariantRecord[]): void {
    const files = variants
      .filter(({ inline }) => inline === undefined)
      .map(({ bodyBytes }) => bodyFileBytes(bodyBytes));
    const bytes = entryBytes === 0 ? 0 : [entryBytes, ...files].reduce((sum, size) => sum + allocatedBytes(size), 0);
    volume.noteStored(hash, bytes);
  }

  #entry(hash: KeyHash, variants: readonly CachedResponse[]): CacheEntry | undefined {
    const since = this.invalidations.at(hash);
    const present = variants.filter(({ requestAt }) => requestAt > since);
    if (present.length === 0 && since === Number.NEGATIVE_INFINITY) return undefined;
    return { variants: present, invalidatedAt: since === Number.NEGATIVE_INFINITY ? undefined : since };
  }

  #toResponse(volume: Volume, hash: KeyHash, { bodyId, bodyBytes, inline, ...head }: VariantRecord): CachedResponse {
    const body =
      inline === undefined
        ? this.#body(hash, bodyId, bodyBytes, volume.bodyPath(hash, bodyId), WRITTEN)
        : wrapBytes(inline);
    return { ...head, body, isFromDisk: true };
  }

  #body(hash: KeyHash | undefined, bodyId: string, sizeBytes: number, path: string, written: Promise<boolean>) {
    const onLost = ({ hash: owner }: DiskBody) => {
      this.#health.note('damaged', undefined);
      if (owner !== undefined) this.#lanes.run(owner, () => this.#drop(owner, (variant) => variant.bodyId === bodyId));
    };
    return new DiskBody({ hash, bodyId, sizeBytes, path, written, files: this.#files, onLost });
  }
  #openFile(volume: Volume): BodyFileWriter {
    const bodyId = newBodyId();
    const path = volume.unfinishedPath(bodyId);
    return new BodyFileWriter({ bodyId, path, memory: this.#blocks, onProblem: (error) => this.#fail(error) });
  }

  /** Abandons a body that is not stored after all. */
  #abandon(body: StoredBody): void {
    if (body instanceof DiskBody) this.#unplaced.remove(body);
  }

  /** Opens the directory when that is worth a try. */
  #use(): Volume | undefined {
    if (this.#volume !== undefined || this.#isClosed || this.#refusal() !== undefined) return this.#volume;
    try {
      const { directory, maxBytes } = this.#options;
      this.#volume = new Volume({ directory, maxBytes, onProblem: (error) => this.#fail(error) });
      this.#janitor = new Janitor(this.#volume, maxBytes);
    } catch (error) {
      this.#fail(error);
    }
    return this.#volume;
  }

  #close(): void {
    this.#janitor?.close();
    this.#volume?.close();
    this.#janitor = undefined;
    this.#volume = undefined;
  }

  /** Never rejects. */
  #tick(): Promise<void> {
    this.#ticking ??= this.#lookAfter().finally(() => {
      this.#ticking = undefined;
    });
    return this.#ticking;
  }

  async #lookAfter(): Promise<void> {
    try {
      if (this.#volume?.invalidations.isCurrent === false) this.#close(); // somebody has removed the directory
      const volume = this.#use();
      if (volume === undefined) return;
      this.#unplaced.sweep(performance.now());
      volume.keys.follow(performance.now());
      await volume.journal.flush();
      await this.#janitor?.tick();
    } catch (error) {
      this.#fail(error);
    }
  }

  #refusal(): StoreRefusal | undefined {
    return this.#health.refusal(performance.now());
  }

  #fail(error: unknown): void {
    this.#health.noteFailure(error, performance.now());
  }
}

interface Put {
  readonly response: CachedResponse;
  readonly options: CacheOptions;
  /** The key may have been on disk before. */
  readonly isKnown: boolean;
}

const WRITTEN = Promise.resolve(true);
