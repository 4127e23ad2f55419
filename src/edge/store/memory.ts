/**
 * The memory tier. A key's heads and small bodies are one record in an arena; larger bodies are in a pool of blocks.
 * Both count towards the limit, and so does the index. `sieve.ts` chooses which key is evicted.
 */
import type { CacheOptions } from '#http/options.ts';
import { putVariant } from '#http/variants.ts';
import { Arena } from './arena.ts';
import { BodyPool } from './body-pool.ts';
import { SMALL_BODY_BYTES, type WriterBudget } from './gathered-bytes.ts';
import { createHeadEncoder, decodeHead, type EncodedHead, type EncodeHead } from './head-codec.ts';
import { Invalidations } from './invalidations.ts';
import { createKeyHasher, type HashKey, type KeyHash, splitHash } from './key-hash.ts';
import { wrapBytes } from './memory-body.ts';
import { Pages } from './pages.ts';
import { PooledBody } from './pooled-body.ts';
import { isSameResponse } from './same-response.ts';
import { grown, NONE } from './slot-table.ts';
import type { CachedResponse, CacheEntry, CacheStore, EntryPlace, Release, StoredBody, StoreUsage } from './store.ts';
import { WeightedIndex } from './weighted-index.ts';
import { GatheringWriter } from './writer.ts';

export interface MemoryStoreOptions {
  /** Limit of all memory, bodies in flight included. 0: nothing is kept. */
  readonly maxBytes: number;
  readonly maxBodyBytes?: number;
  /** Hash function shared with another tier that looks up the same keys. */
  readonly hashKey?: HashKey;
  /** Encoder shared with another tier that keeps the same heads. */
  readonly encodeHead?: EncodeHead;
  /** Called with memory of bodies that may be reused from now on. Tests overwrite it. */
  readonly onFreed?: (bytes: Buffer) => void;
}

/** Share of the memory that all bodies in flight may take, and so the limit of one object. */
const UNDER_WAY_SHARE = 1 / 8;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Estimated memory of a body outside the arena, besides its bytes. */
const KEPT_BODY_BYTES = 600;
const FIRST_CAPACITY = 64;
const SCRATCH_BYTES = 64 * 1024;
const LENGTHS_BYTES = 8;

export class MemoryStore implements CacheStore {
  readonly maxBodyBytes: number;
  readonly #maxBytes: number;
  readonly #hashKey: HashKey;
  readonly #encodeHead: EncodeHead;
  readonly #budget: WriterBudget;
  readonly #invalidations = new Invalidations();
  readonly #index = new WeightedIndex();
  readonly #arena: Arena;
  /** Memory of larger bodies, including those that the tier above gathers. */
  readonly pool: BodyPool;
  /** First chunk of each slot's record; the next two arrays contain its length and its number of variants. */
  #first = new Int32Array(FIRST_CAPACITY);
  #length = new Uint32Array(FIRST_CAPACITY);
  #variants = new Uint8Array(FIRST_CAPACITY);
  /** Serial number of each slot's entry among all entries ever written; 0 if the slot is free. */
  #version = new Float64Array(FIRST_CAPACITY);
  #lastVersion = 0;
  /** Bodies of a slot that are not in the arena, in the order of its variants. */
  readonly #kept: (readonly KeptBody[] | undefined)[] = [];
  #keptBytes = 0;
  /** The bodies in `#kept` outside the pool. */
  readonly #counted = new Set<StoredBody>();
  /** Buffer in which records are assembled: one buffer per record would be most of the garbage. */
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  #objects = 0;

  constructor({ maxBytes, maxBodyBytes = MAX_BODY_BYTES, ...options }: MemoryStoreOptions) {
    this.#hashKey = options.hashKey ?? createKeyHasher();
    this.#encodeHead = options.encodeHead ?? createHeadEncoder();
    const underWayBytes = Math.floor(maxBytes * UNDER_WAY_SHARE);
    this.#maxBytes = maxBytes - underWayBytes;
    this.maxBodyBytes = Math.min(maxBodyBytes, underWayBytes);
    this.#budget = { leftBytes: underWayBytes };
    const pages = new Pages(this.#maxBytes);
    this.#arena = new Arena(pages, (slot, first) => {
      this.#first[slot] = first;
    });
    this.pool = new BodyPool({
      pages,
      makeRoom: () => this.#makeRoomForBody(),
      onOrphanFreed: () => this.#giveBackPages(),
      onFreed: options.onFreed,
    });
  }

  find(key: string): CacheEntry | undefined {
    const hash = this.#hashKey(key);
    const invalidatedAt = this.#invalidations.at(hash);
    const slot = this.#slotOf(hash);
    const variants = slot === NONE ? NO_VARIANTS : this.#read(slot, key);
    if (variants.length > 0) this.#index.markUsed(slot);
    return variants.length === 0 && invalidatedAt === undefined ? undefined : { variants, invalidatedAt };
  }

  findNewer(): undefined {
    return undefined;
  }

  refuses(): undefined {
    return undefined;
  }

  openWriter(announcedBytes?: number) {
    const { maxBodyBytes, pool } = this;
    const limits = { maxBodyBytes, maxMemoryBytes: maxBodyBytes, maxCopiedBytes: SMALL_BODY_BYTES };
    return new GatheringWriter({ ...limits, pool, budget: this.#budget, announcedBytes, openSpill: () => undefined });
  }

  put(key: string, response: CachedResponse, options: CacheOptions): void {
    const hash = this.#hashKey(key);
    if (this.#invalidations.refuses(hash, response.requestAt)) return;
    const slot = this.#slotOf(hash);
    const present = slot === NONE ? NO_VARIANTS : this.#read(slot, key);
    this.#replace(hash, key, putVariant(present, response, options).variants);
  }

  /** Replaces the key's entry by variants that another tier has found. */
  load(key: string, variants: readonly CachedResponse[]): void {
    const hash = this.#hashKey(key);
    const since = this.#invalidations.at(hash) ?? Number.NEGATIVE_INFINITY;
    const kept = variants.filter(({ requestAt }) => requestAt > since);
    this.#replace(hash, key, kept);
  }

  remove(key: string, response: CachedResponse): void {
    const hash = this.#hashKey(key);
    const slot = this.#slotOf(hash);
    if (slot === NONE) return;
    const present = this.#read(slot, key);
    const variants = present.filter((variant) => !isSameResponse(variant, response));
    if (variants.length < present.length) this.#replace(hash, key, variants);
  }

  invalidate(key: string, at: number): void {
    this.invalidateHash(this.#hashKey(key), at);
  }

  invalidateHash(hash: KeyHash, at: number): void {
    this.#invalidations.record(hash, at);
    const slot = this.#slotOf(hash);
    if (slot === NONE) return;
    const { key, variants } = this.#decode(slot);
    const kept = variants.filter(({ requestAt }) => requestAt > at);
    if (kept.length < variants.length) this.#replace(hash, key, kept);
  }

  usage(): StoreUsage {
    return { bytes: this.#bytes() - this.pool.freeBytes, objects: this.#objects };
  }

  readonly isStill = ({ slot, version }: EntryPlace): boolean => {
    if (this.#version[slot] !== version) return false;
    this.#index.markUsed(slot);
    return true;
  };

  readonly isCounted = (body: StoredBody): boolean =>
    this.#counted.has(body) || isInArena(body) || (body instanceof PooledBody && body.isKept);

  async [Symbol.asyncDispose](): Promise<void> {
    // Only memory to free.
  }

  #bytes(): number {
    const perSlot =
      this.#first.byteLength + this.#length.byteLength + this.#variants.byteLength + this.#version.byteLength;
    return this.#arena.bytes + this.pool.bytes + this.#keptBytes + this.#index.bytes + perSlot;
  }

  /** Bytes left below the limit. Bodies that only readers hold do not count here; `respond/pins.ts` bounds them. */
  #roomBytes(): number {
    return this.#maxBytes + this.pool.orphanBytes - this.#bytes();
  }

  #slotOf(hash: KeyHash): number {
    const { high, low } = splitHash(hash);
    return this.#index.find(high, low);
  }

  /** Returns the key's variants; none if the entry is that of another key with the same hash. */
  #read(slot: number, key: string): readonly CachedResponse[] {
    const entry = this.#decode(slot);
    return entry.key === key ? entry.variants : NO_VARIANTS;
  }

  #decode(slot: number): { readonly key: string; readonly variants: readonly CachedResponse[] } {
    const record = this.#arena.read(this.#first[slot] ?? NONE, this.#length[slot] ?? 0);
    const keyEnd = LENGTHS_BYTES + record.readUInt32LE(0);
    const headsEnd = keyEnd + record.readUInt32LE(4);
    // `as`: `encodeRecord` wrote it.
    const heads = JSON.parse(record.toString('utf8', keyEnd, headsEnd)) as readonly EncodedVariant[];
    const kept = this.#kept[slot] ?? [];
    let at = headsEnd;
    let nextKept = 0;
    const variants = heads.map(([head, bodyBytes]): CachedResponse => {
      const body = bodyBytes === KEPT ? kept[nextKept++]?.body : wrapBytes(record.subarray(at, at + bodyBytes));
      if (body === undefined) throw new Error('a body beside the arena is kept');
      if (bodyBytes !== KEPT) at += bodyBytes;
      return { ...decodeHead(head), body };
    });
    const key = record.toString('utf8', LENGTHS_BYTES, keyEnd);
    if (!isChosenByCoding(variants)) return { key, variants };
    const place = { slot, version: this.#version[slot] ?? 0 };
    return { key, variants: variants.map((variant) => ({ ...variant, place })) };
  }

  #replace(hash: KeyHash, key: string, given: readonly CachedResponse[]): void {
    const { high, low } = splitHash(hash);
    const { variants, kept } = this.#keepBodies(given);
    const present = this.#index.find(high, low);
    if (present !== NONE) this.#delete(present);
    const keptBytes = kept.reduce((sum, { bytes }) => sum + bytes, 0);
    const record = variants.length === 0 ? NOTHING : encodeRecord(key, variants, this.#encodeHead, this.#scratch);
    if (record.length === 0 || this.#maxBytes === 0 || !this.#makeRoom(record.length, keptBytes)) {
      for (const { release } of kept) release();
      return;
    }
    const slot = this.#index.insert(high, low, Arena.weigh(record.length) + keptBytes);
    if (slot >= this.#first.length) this.#grow();
    // A replacement shows that the key is in use.
    if (present !== NONE) this.#index.markUsed(slot);
    this.#first[slot] = this.#arena.write(slot, record);
    this.#length[slot] = record.length;
    this.#variants[slot] = variants.length;
    this.#version[slot] = ++this.#lastVersion;
    this.#kept[slot] = kept.length > 0 ? kept : undefined;
    for (const { body } of kept) if (!(body instanceof PooledBody)) this.#counted.add(body);
    this.#keptBytes += keptBytes;
    this.#objects += variants.length;
  }

  /**
   * Keeps the bodies that are not in the arena, in the order of the variants. Omits variants whose body is gone or has
   * no room.
   */
  #keepBodies(given: readonly CachedResponse[]): {
    readonly variants: readonly CachedResponse[];
    readonly kept: readonly KeptBody[];
  } {
    // Before any body is copied: making room for the copy could evict one of the others.
    const keeping = given.map(({ body }) => (isInArena(body) ? undefined : body.keep?.()));
    const variants: CachedResponse[] = [];
    const kept: KeptBody[] = [];
    for (const [i, variant] of given.entries()) {
      const { body } = variant;
      const release = keeping[i];
      if (isInArena(body)) variants.push(variant);
      else if (release !== undefined) {
        variants.push(variant);
        kept.push({ body, release, bytes: KEPT_BODY_BYTES });
      } else if (body.keep === undefined && body.inMemory !== undefined) {
        const copy = this.#copyBody(body.inMemory);
        if (copy === undefined) continue;
        variants.push({ ...variant, body: copy.body });
        kept.push(copy);
      }
    }
    return { variants, kept };
  }

  #copyBody(pieces: readonly Buffer[]): KeptBody | undefined {
    const body = this.pool.open();
    const release = body.keep();
    const expected = pieces.reduce((sum, { length }) => sum + length, 0);
    const hasRoom = pieces.every((piece) => body.append(piece, expected) !== undefined);
    body.finish();
    if (!hasRoom) release?.();
    return release && hasRoom ? { body, release, bytes: KEPT_BODY_BYTES } : undefined;
  }

  #delete(slot: number): void {
    this.#keptBytes -= this.#index.weightOf(slot) - Arena.weigh(this.#length[slot] ?? 0);
    this.#arena.free(this.#first[slot] ?? NONE);
    const kept = this.#kept[slot] ?? [];
    this.#kept[slot] = undefined;
    this.#objects -= this.#variants[slot] ?? 0;
    this.#version[slot] = 0;
    this.#index.delete(slot);
    for (const { body, release } of kept) {
      this.#counted.delete(body);
      release();
    }
  }

  /** Returns false if the record does not fit even after all entries were evicted. */
  #makeRoom(recordBytes: number, keptBytes: number): boolean {
    while (this.#roomBytes() < this.#arena.growthFor(recordBytes) + keptBytes) {
      if (this.pool.giveBackPage()) continue;
      // Giving an arena page back helps only if the record does not need it again.
      if (this.#arena.growthFor(recordBytes) === 0 && this.#arena.giveBackPage()) continue;
      if (!this.#evict()) return false;
    }
    return true;
  }

  /** Makes room for one block. Returns false if there is none even after all entries were evicted. */
  #makeRoomForBody(): boolean {
    while (!this.pool.hasFree) {
      if (this.#roomBytes() >= this.pool.pageBytes) this.pool.addPage();
      else if (!this.#arena.giveBackPage() && !this.#evict()) return false;
    }
    return true;
  }

  /** Gives back pages above the limit after held bodies were freed. */
  #giveBackPages(): void {
    while (this.#roomBytes() < 0 && this.pool.giveBackPage());
  }

  #evict(): boolean {
    const victim = this.#index.victim();
    if (victim !== NONE) this.#delete(victim);
    return victim !== NONE;
  }

  #grow(): void {
    const capacity = this.#first.length * 2;
    this.#first = grown(this.#first, new Int32Array(capacity));
    this.#length = grown(this.#length, new Uint32Array(capacity));
    this.#variants = grown(this.#variants, new Uint8Array(capacity));
    this.#version = grown(this.#version, new Float64Array(capacity));
  }
}

/**
 * Whether only `Accept-Encoding` selects among the variants. All must vary by the same fields: otherwise two could
 * match one request, and time would decide between them.
 */
function isChosenByCoding(variants: readonly CachedResponse[]): boolean {
  const [first] = variants;
  const isCoding = (field: string) => field === 'accept-encoding';
  return variants.every(({ vary }) => vary.length === first?.vary.length && vary.every(isCoding));
}

const NOTHING = Buffer.alloc(0);
const NO_VARIANTS: readonly CachedResponse[] = [];
/** Marker in place of a body's size: the body is outside the arena. */
const KEPT = -1;

interface KeptBody {
  readonly body: StoredBody;
  readonly release: Release;
  /** Weight in addition to its bytes in the pool. */
  readonly bytes: number;
}

type EncodedVariant = readonly [head: EncodedHead, bodyBytes: number];

function isInArena({ sizeBytes, prepare }: StoredBody): boolean {
  return sizeBytes <= SMALL_BODY_BYTES && prepare === undefined;
}

/** Encodes into `scratch` if it fits; the result is valid until the next call. */
function encodeRecord(
  key: string,
  variants: readonly CachedResponse[],
  encodeHead: EncodeHead,
  scratch: Buffer,
): Buffer {
  const bodies: Buffer[] = [];
  const heads = variants.map((variant) => {
    const { body } = variant;
    if (!isInArena(body)) return `[${encodeHead(variant)},${KEPT}]`;
    if (body.inMemory === undefined) throw new Error('a small body in memory is read at once');
    bodies.push(...body.inMemory);
    return `[${encodeHead(variant)},${body.sizeBytes}]`;
  });
  const headText = `[${heads.join(',')}]`;
  const keyBytes = Buffer.byteLength(key);
  const headBytes = Buffer.byteLength(headText);
  const length = bodies.reduce((sum, piece) => sum + piece.length, LENGTHS_BYTES + keyBytes + headBytes);
  const record = length <= scratch.length ? scratch.subarray(0, length) : Buffer.allocUnsafeSlow(length);
  record.writeUInt32LE(keyBytes, 0);
  record.writeUInt32LE(headBytes, 4);
  record.write(key, LENGTHS_BYTES);
  let at = LENGTHS_BYTES + keyBytes;
  at += record.write(headText, at);
  for (const piece of bodies) at += piece.copy(record, at);
  return record;
}
