/**
 * The disk tier, shared by all workers of the machine. A key's heads and small bodies are an entry in a segment; larger
 * bodies have their own files. Written bytes are never changed. If the disk does not work, nothing is found or stored.
 */
import type { CacheOptions } from '#http/options.ts';
import { putVariant } from '#http/variants.ts';
import { createSharedRuns } from '#lib/shared-runs.ts';
import type { WriterBudget } from '../gathered-bytes.ts';
import type { EncodeHead } from '../head-codec.ts';
import { createKeyHasher, type HashKey, type KeyHash } from '../key-hash.ts';
import { readWhole, wrapBytes } from '../memory-body.ts';
import { isSameResponse } from '../same-response.ts';
import type { CachedResponse, CacheEntry, CacheStore, StoredBody, StoreRefusal, StoreUsage } from '../store.ts';
import { GatheringWriter, type Spill } from '../writer.ts';
import { BlockMemory, BodyFileWriter, newBodyId } from './body-file.ts';
import { DiskBody } from './disk-body.ts';
import { asWritten, type EntryRecord, type VariantRecord } from './format.ts';
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
  /** Limit of the directory, for all workers together. */
  readonly maxBytes: number;
  readonly onProblem: OnDiskProblem;
  /** Hash function shared with another tier that looks up the same keys. */
  readonly hashKey?: HashKey;
  /** Encoder shared with another tier that keeps the same heads. */
  readonly encodeHead?: EncodeHead | undefined;
}

/** Share of the disk that one object may take. */
const MAX_SHARE = 1 / 4;
/** Share of the disk that unfinished bodies may take in addition. */
const MAX_UNFINISHED_SHARE = 1 / 2;
/** Limits of bodies stored in their key's entry: of each body, and of all together. */
const MAX_INLINE_BYTES = 256 * 1024;
const MAX_INLINE_TOTAL_BYTES = 768 * 1024;
/** Memory of all unfinished bodies that are still small; larger ones are in files. */
const GATHER_BYTES = 32 * 1024 * 1024;
/** Memory of blocks that are being filled or wait to be written. */
const BLOCKS_BYTES = 64 * 1024 * 1024;
/** Limits of bodies and keys that wait to be written; more are not stored. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const MAX_WAITING_KEYS = 5_000;
/** Limit of a look-up's wait for work in flight on its key; after it the look-up is a miss. */
const MAX_WAIT_MS = 1_000;
/** Interval of the directory's upkeep. */
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
  /** Budget of bodies in unfinished files. */
  readonly #unfinished: WriterBudget;
  readonly #unplaced = new Unplaced();
  /** Files written for bodies from memory, so that a new head does not write them again. */
  readonly #written = new WeakMap<StoredBody, DiskBody>();
  /** Runs the upkeep. A call during a run gets one that begins after it. Never rejects. */
  readonly #tick = createSharedRuns(() => this.#lookAfter());
  readonly #timer: NodeJS.Timeout;
  #volume: Volume | undefined;
  #janitor: Janitor | undefined;
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
    return this.#lanes.has(hash) || this.#has(hash) ? this.#read(key, hash) : this.#entry(hash, []);
  }

  /** Always `undefined`, since `find` reads the current directory. */
  findNewer(): undefined {
    return undefined;
  }

  refuses(bodyBytes: number | undefined): StoreRefusal | undefined {
    return bodyBytes !== undefined && bodyBytes > this.maxBodyBytes ? undefined : this.#refusal();
  }

  openWriter(announcedBytes?: number) {
    return new GatheringWriter({
      maxBodyBytes: this.maxBodyBytes,
      maxMemoryBytes: MAX_INLINE_BYTES,
      maxCopiedBytes: MAX_INLINE_BYTES,
      budget: this.#gathering,
      announcedBytes,
      openSpill: () => this.openSpill(),
    });
  }

  /** Returns `undefined` if nothing can be written now. */
  openSpill(): Spill | undefined {
    const volume = this.#use();
    if (volume === undefined || this.#refusal() !== undefined) return undefined;
    const writer = this.#openFile(volume);
    return createSpill(writer, {
      budget: this.#unfinished,
      // A failure has been noted already; without one, the disk did not keep up.
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
    if (!this.#lanes.has(hash) && this.#putFirst(key, hash, response)) return;
    const waits = body instanceof DiskBody ? 0 : body.sizeBytes;
    const isBusy = this.#waitingBytes + waits > MAX_WAITING_BYTES || this.#lanes.size >= MAX_WAITING_KEYS;
    if (isBusy) this.#health.note('storeBusy', undefined);
    if (isBusy || this.#refusal() !== undefined || body.sizeBytes > this.maxBodyBytes) {
      // A variant that is stored would be older than the one that the caller believes to be stored.
      if (!isBusy) this.#lanes.run(hash, () => this.#drop(hash, (variant) => variant.varyKey === response.varyKey));
      this.#abandon(body);
      return;
    }
    const release = body.hold();
    if (release === undefined) return;
    this.#waitingBytes += waits;
    this.#lanes.run(hash, async () => {
      try {
        await this.#store(key, hash, response, options);
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
    if (!this.#lanes.has(hash) && !this.#has(hash)) return;
    this.#lanes.run(hash, () => this.#drop(hash, ({ requestAt }) => requestAt <= at));
  }

  usage(): StoreUsage {
    return this.#janitor?.usage() ?? { bytes: 0, objects: 0 };
  }

  readonly diskUsage = (): StoreUsage => this.usage();

  /**
   * Resolves when everything that was put is on disk and, if this worker is the janitor, the directory is within its
   * limit.
   */
  async settle(): Promise<void> {
    await this.#lanes.settled();
    await this.#volume?.segments.filled();
    await this.#volume?.segments.flush();
    do await this.#tick();
    while (this.#janitor?.isSettled === false && this.#refusal() === undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#lanes.settled();
    await this.#tick();
    this.#isClosed = true;
    await this.#close();
    this.#files.closeIdle();
  }

  async #read(key: string, hash: KeyHash): Promise<CacheEntry | undefined> {
    if (!(await this.#lanes.isIdleWithin(hash, MAX_WAIT_MS))) return undefined;
    const volume = this.#use();
    if (volume === undefined) return this.#entry(hash, []);
    try {
      // An invalidated entry must not be copied: the copy would be later than its removal.
      const isKept = ({ variants }: EntryRecord) => {
        const since = this.invalidations.at(hash);
        return variants.every(({ requestAt }) => requestAt > since);
      };
      const record = await volume.readEntry(hash, isKept);
      const variants = record?.key === key ? record.variants : [];
      return this.#entry(
        hash,
        variants.map((variant) => this.#toResponse(volume, hash, variant)),
      );
    } catch (error) {
      this.#fail(error);
      return this.#entry(hash, []);
    }
  }

  /** Whether the key is on disk, as far as this worker knows. */
  #has(hash: KeyHash): boolean {
    try {
      const segments = this.#use()?.segments;
      segments?.follow(performance.now());
      return segments?.isPresent === true && segments.find(hash) !== undefined;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  /**
   * Synchronously puts a small body under a key that is not on disk. Returns false if the body is not small or in
   * memory, or the key is on disk.
   */
  #putFirst(key: string, hash: KeyHash, response: CachedResponse): boolean {
    const { sizeBytes, inMemory } = response.body;
    if (inMemory === undefined || sizeBytes > MAX_INLINE_BYTES || this.#refusal() !== undefined) return false;
    if (this.#has(hash)) return false;
    if (this.#volume === undefined || this.invalidations.refuses(hash, response.requestAt)) return true;
    const variant = { head: response, bodyId: '', bodyBytes: sizeBytes, inline: inMemory };
    if (!this.#volume.writeEntry(hash, key, [variant])) this.#health.note('storeBusy', undefined);
    return true;
  }

  async #store(key: string, hash: KeyHash, response: CachedResponse, options: CacheOptions): Promise<void> {
    const volume = this.#use();
    if (volume === undefined || this.invalidations.refuses(hash, response.requestAt))
      return this.#abandon(response.body);
    const record = await volume.readEntry(hash);
    const since = this.invalidations.at(hash);
    const present = record?.key === key ? record.variants.filter(({ requestAt }) => requestAt > since) : [];
    const added = await this.#place(volume, hash, response, present);
    if (added === undefined) return;
    const { variants } = putVariant(present, added, options);
    if (!volume.writeEntry(hash, key, variants.map(asWritten))) this.#health.note('storeBusy', undefined);
    const kept = bodyFilesOf(variants);
    const before = [...bodyFilesOf(record?.variants ?? []), ...bodyFilesOf([added])];
    await volume.removeBodies(
      hash,
      before.filter((bodyId) => !kept.includes(bodyId)),
    );
  }

  /** Puts the body in its permanent place, the entry or a file. Returns `undefined` if it could not be written. */
  async #place(
    volume: Volume,
    hash: KeyHash,
    response: CachedResponse,
    present: readonly VariantRecord[],
  ): Promise<VariantRecord | undefined> {
    const { body } = response;
    const inlineBytes = present.reduce((sum, { inline, bodyBytes }) => sum + (inline === undefined ? 0 : bodyBytes), 0);
    const canInline = body.sizeBytes <= MAX_INLINE_BYTES && inlineBytes + body.sizeBytes <= MAX_INLINE_TOTAL_BYTES;
    if (!(body instanceof DiskBody) && canInline) {
      return { ...response, bodyId: '', bodyBytes: body.sizeBytes, inline: [await readWhole(body)] };
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

  /** Removes the variants that match or are invalidated, and the key's entry if none is left. */
  async #drop(hash: KeyHash, isDropped: (variant: VariantRecord) => boolean): Promise<void> {
    const volume = this.#use();
    const record = await volume?.readEntry(hash);
    if (volume === undefined || record === undefined) return;
    const since = this.invalidations.at(hash);
    const isKept = (variant: VariantRecord) => variant.requestAt > since && !isDropped(variant);
    const variants = record.variants.filter(isKept);
    if (variants.length === record.variants.length) return;
    if (variants.length === 0) volume.removeEntry(hash);
    else volume.writeEntry(hash, record.key, variants.map(asWritten));
    await volume.removeBodies(hash, bodyFilesOf(record.variants.filter((variant) => !isKept(variant))));
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
        : wrapBytes(inline[0] ?? Buffer.alloc(0)); // a decoded entry has each body in one piece
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

  /** Removes the file of a body that will not be stored. */
  #abandon(body: StoredBody): void {
    if (body instanceof DiskBody) this.#unplaced.remove(body);
  }

  /** Returns the open directory; opens it unless a failure is recent. `undefined` if it cannot be used. */
  #use(): Volume | undefined {
    if (this.#volume !== undefined || this.#isClosed || this.#refusal() !== undefined) return this.#volume;
    try {
      const { directory, maxBytes, encodeHead } = this.#options;
      const onProblem = (error: unknown) => this.#fail(error);
      this.#volume = new Volume({ directory, maxBytes, files: this.#files, encodeHead, onProblem });
      this.#janitor = new Janitor(this.#volume, maxBytes);
    } catch (error) {
      this.#fail(error);
    }
    return this.#volume;
  }

  async #close(): Promise<void> {
    const volume = this.#volume;
    this.#janitor?.close();
    this.#janitor = undefined;
    this.#volume = undefined;
    await volume?.close();
  }

  async #lookAfter(): Promise<void> {
    try {
      if (this.#volume?.invalidations.isCurrent === false) await this.#close(); // the directory was removed
      const volume = this.#use();
      if (volume === undefined) return;
      this.#unplaced.sweep(performance.now());
      volume.segments.follow(performance.now());
      volume.segments.tick();
      await this.#janitor?.tick(performance.now());
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

const WRITTEN = Promise.resolve(true);
