/**
 * The memory tier. A key's heads and small bodies are one record in an arena, larger bodies are buffers beside it; both count,
 * and so does what the index takes. Which key leaves for room: `sieve.ts`.
 */
import type { CacheOptions } from '#http/options.ts';
import { putVariant } from '#http/variants.ts';
import { Arena } from './arena.ts';
import { decodeHead, type EncodedHead, encodeHead } from './head-codec.ts';
import { Invalidations } from './invalidations.ts';
import { createKeyHasher, type HashKey, type KeyHash, splitHash } from './key-hash.ts';
import { wrapBytes } from './memory-body.ts';
import { isSameResponse } from './same-response.ts';
import { grown, NONE } from './slot-table.ts';
import type { CachedResponse, CacheEntry, CacheStore, EntryPlace, StoredBody, StoreUsage } from './store.ts';
import { WeightedIndex } from './weighted-index.ts';
import { createWriter, type WriterBudget } from './writer.ts';

export interface MemoryStoreOptions {
  /** Memory for everything, bodies in flight included. 0: nothing is kept. */
  readonly maxBytes: number;
  readonly maxBodyBytes?: number;
  /** Shared with another tier that is asked for the same keys. */
  readonly hashKey?: HashKey;
}

/** Share of the memory that all bodies in flight may take, and so the largest object. */
const UNDER_WAY_SHARE = 1 / 8;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Smaller bodies are in the arena: copied at each use, and nothing to the garbage collector. */
const MAX_ARENA_BODY_BYTES = 8 * 1024;
/** What the engine takes for a body beside the arena, besides its bytes. */
const HELD_BODY_BYTES = 600;
const FIRST_CAPACITY = 64;
const SCRATCH_BYTES = 64 * 1024;
const LENGTHS_BYTES = 8;

export class MemoryStore implements CacheStore {
  readonly maxBodyBytes: number;
  readonly #maxBytes: number;
  readonly #hashKey: HashKey;
  readonly #budget: WriterBudget;
  readonly #invalidations = new Invalidations();
  readonly #index = new WeightedIndex();
  readonly #arena: Arena;
  /** Start of each slot's record; the next two arrays have its length and its number of variants. */
  #first = new Int32Array(FIRST_CAPACITY);
  #length = new Uint32Array(FIRST_CAPACITY);
  #variants = new Uint8Array(FIRST_CAPACITY);
  /** Serial number of each slot's entry among all entries ever written; 0: there is none. */
  #version = new Float64Array(FIRST_CAPACITY);
  #lastVersion = 0;
  /** Bodies of a slot that are not in the arena, in the variants' order. */
  readonly #held = new Map<number, readonly StoredBody[]>();
  #heldBytes = 0;
  /** The same bodies. */
  readonly #counted = new Set<StoredBody>();
  /** Records are put together here: a buffer for each would be the larger part of all garbage. */
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  #objects = 0;

  constructor({ maxBytes, maxBodyBytes = MAX_BODY_BYTES, hashKey = createKeyHasher() }: MemoryStoreOptions) {
    this.#hashKey = hashKey;
    const underWayBytes = Math.floor(maxBytes * UNDER_WAY_SHARE);
    this.#maxBytes = maxBytes - underWayBytes;
    this.maxBodyBytes = Math.min(maxBodyBytes, underWayBytes);
    this.#budget = { leftBytes: underWayBytes };
    this.#arena = new Arena(this.#maxBytes, (slot, first) => {
      this.#first[slot] = first;
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

  openWriter() {
    const { maxBodyBytes } = this;
    const budget = this.#budget;
    return createWriter({ maxBodyBytes, maxMemoryBytes: maxBodyBytes, budget, openSpill: () => undefined });
  }

  put(key: string, response: CachedResponse, options: CacheOptions): void {
    const hash = this.#hashKey(key);
    if (this.#invalidations.refuses(hash, response.requestAt)) return;
    const slot = this.#slotOf(hash);
    const present = slot === NONE ? NO_VARIANTS : this.#read(slot, key);
    this.#replace(hash, key, putVariant(present, response, options).variants);
  }

  /** What another tier has found under the key, in place of all that is here. */
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
    return { bytes: this.#bytes(), objects: this.#objects };
  }

  readonly isStill = ({ slot, version }: EntryPlace): boolean => {
    if (this.#version[slot] !== version) return false;
    this.#index.markUsed(slot);
    return true;
  };

  readonly isCounted = (body: StoredBody): boolean => this.#counted.has(body) || isInArena(body);

  async [Symbol.asyncDispose](): Promise<void> {
    // Nothing but memory.
  }

  #bytes(): number {
    const perSlot =
      this.#first.byteLength + this.#length.byteLength + this.#variants.byteLength + this.#version.byteLength;
    return this.#arena.bytes + this.#heldBytes + this.#index.bytes + perSlot;
  }

  #slotOf(hash: KeyHash): number {
    const { high, low } = splitHash(hash);
    return this.#index.find(high, low);
  }

  /** Nothing for another key with the same hash. */
  #read(slot: number, key: string): readonly CachedResponse[] {
    const entry = this.#decode(slot);
    return entry.key === key ? entry.variants : NO_VARIANTS;
  }

  #decode(slot: number): { readonly key: string; readonly variants: readonly CachedResponse[] } {
    const record = this.#arena.read(this.#first[slot] ?? NONE, this.#length[slot] ?? 0);
    const keyEnd = LENGTHS_BYTES + record.readUInt32LE(0);
    const headsEnd = keyEnd + record.readUInt32LE(4);
    // `encodeRecord` wrote it.
    const heads = JSON.parse(record.toString('utf8', keyEnd, headsEnd)) as readonly EncodedVariant[];
    const held = this.#held.get(slot) ?? [];
    let at = headsEnd;
    let nextHeld = 0;
    const variants = heads.map(([head, bodyBytes]): CachedResponse => {
      const body = bodyBytes === HELD ? held[nextHeld++] : wrapBytes(record.subarray(at, at + bodyBytes));
      if (body === undefined) throw new Error('a body beside the arena is held');
      if (bodyBytes !== HELD) at += bodyBytes;
      return { ...decodeHead(head), body };
    });
    const key = record.toString('utf8', LENGTHS_BYTES, keyEnd);
    if (!isChosenByCoding(variants)) return { key, variants };
    const place = { slot, version: this.#version[slot] ?? 0 };
    return { key, variants: variants.map((variant) => ({ ...variant, place })) };
  }

  #replace(hash: KeyHash, key: string, variants: readonly CachedResponse[]): void {
    const { high, low } = splitHash(hash);
    const present = this.#index.find(high, low);
    if (present !== NONE) this.#delete(present);
    if (variants.length === 0 || this.#maxBytes === 0) return;
    const held = variants.flatMap(({ body }) => (isInArena(body) ? [] : [body]));
    const heldBytes = held.reduce((sum, body) => sum + HELD_BODY_BYTES + (body.heldBytes ?? body.sizeBytes), 0);
    const record = encodeRecord(key, variants, this.#scratch);
    if (!this.#makeRoom(record.length, heldBytes)) return;
    const slot = this.#index.insert(high, low, Arena.weigh(record.length) + heldBytes);
    if (slot >= this.#first.length) this.#grow();
    // Asked for again, or it would not be replaced.
    if (present !== NONE) this.#index.markUsed(slot);
    this.#first[slot] = this.#arena.write(slot, record);
    this.#length[slot] = record.length;
    this.#variants[slot] = variants.length;
    this.#version[slot] = ++this.#lastVersion;
    if (held.length > 0) this.#held.set(slot, held);
    for (const body of held) this.#counted.add(body);
    this.#heldBytes += heldBytes;
    this.#objects += variants.length;
  }

  #delete(slot: number): void {
    this.#heldBytes -= this.#index.weightOf(slot) - Arena.weigh(this.#length[slot] ?? 0);
    this.#arena.free(this.#first[slot] ?? NONE);
    for (const body of this.#held.get(slot) ?? []) this.#counted.delete(body);
    this.#held.delete(slot);
    this.#objects -= this.#variants[slot] ?? 0;
    this.#version[slot] = 0;
    this.#index.delete(slot);
  }

  /** False: it does not fit even when all others have left. */
  #makeRoom(recordBytes: number, heldBytes: number): boolean {
    while (this.#bytes() + this.#arena.growthFor(recordBytes) + heldBytes > this.#maxBytes) {
      // A page that can be given back makes room only for what does not want it again.
      if (this.#arena.growthFor(recordBytes) === 0 && this.#arena.giveBackPage()) continue;
      const victim = this.#index.victim();
      if (victim === NONE) return false;
      this.#delete(victim);
    }
    return true;
  }

  #grow(): void {
    const capacity = this.#first.length * 2;
    this.#first = grown(this.#first, new Int32Array(capacity));
    this.#length = grown(this.#length, new Uint32Array(capacity));
    this.#variants = grown(this.#variants, new Uint8Array(capacity));
    this.#version = grown(this.#version, new Float64Array(capacity));
  }
}

/** And two of them never match the same request: with other fields each they might, and time then tells which is taken. */
function isChosenByCoding(variants: readonly CachedResponse[]): boolean {
  const [first] = variants;
  const isCoding = (field: string) => field === 'accept-encoding';
  return variants.every(({ vary }) => vary.length === first?.vary.length && vary.every(isCoding));
}

const NO_VARIANTS: readonly CachedResponse[] = [];
/** Stands for a body's size: the body is beside the arena. */
const HELD = -1;

type EncodedVariant = readonly [head: EncodedHead, bodyBytes: number];

function isInArena({ sizeBytes, prepare }: StoredBody): boolean {
  return sizeBytes <= MAX_ARENA_BODY_BYTES && prepare === undefined;
}

/** Encodes into `scratch` if it fits: the result is valid until the next call. */
function encodeRecord(key: string, variants: readonly CachedResponse[], scratch: Buffer): Buffer {
  const bodies: Buffer[] = [];
  const heads = variants.map((variant): EncodedVariant => {
    const { body } = variant;
    if (!isInArena(body)) return [encodeHead(variant), HELD];
    const pieces = body.read({ first: 0, last: body.sizeBytes - 1 });
    if (!(Symbol.iterator in pieces)) throw new Error('a small body in memory is read at once');
    bodies.push(...pieces);
    return [encodeHead(variant), body.sizeBytes];
  });
  const headText = JSON.stringify(heads);
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
