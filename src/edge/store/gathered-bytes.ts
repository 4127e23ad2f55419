/** Memory of a body that is being gathered: copies while it is small, blocks of the pool from there on. */
import { appendChunk, PagedCopies } from '#lib/joined-chunks.ts';
import type { BodyPool } from './body-pool.ts';
import { wrapBytes } from './memory-body.ts';
import type { PooledBody } from './pooled-body.ts';
import type { Release, StoredBody } from './store.ts';

/** Bodies up to here are not in the pool: the memory tier copies them into its arena. */
export const SMALL_BODY_BYTES = 8 * 1024;

/** Shared by all writers of a store. */
export interface WriterBudget {
  /** May be below 0 by what is lost at the ends of bodies: blocks are taken whole. */
  leftBytes: number;
}

export interface GatheredBytesOptions {
  readonly maxBytes: number;
  /** Up to here it may be gathered without the pool where that has no room. */
  readonly maxCopiedBytes: number;
  /** Absent: there is none. */
  readonly pool: BodyPool | undefined;
  /** Memory budget of all unfinished bodies. */
  readonly budget: WriterBudget;
  /** 0: unknown. */
  readonly announcedBytes: number;
}

export class GatheredBytes {
  readonly #options: GatheredBytesOptions;
  readonly #copies = new PagedCopies();
  #chunks: Buffer[] = [];
  #chunkBytes = 0;
  #pooled: PooledBody | undefined;
  #release: Release | undefined;
  /** Bytes taken out of the budget. */
  #takenBytes = 0;

  constructor(options: GatheredBytesOptions) {
    this.#options = options;
  }

  /** Where the bytes lie in the pool, if they do. */
  get pooled(): PooledBody | undefined {
    return this.#pooled;
  }

  /** All that was added. */
  get all(): readonly Buffer[] {
    return this.#pooled?.inMemory ?? this.#chunks;
  }

  /** Copies a chunk. Returns where it lies; `undefined`: there is no room, and nothing was added. */
  add(chunk: Buffer): readonly Buffer[] | undefined {
    const { maxBytes, maxCopiedBytes, budget, announcedBytes } = this.#options;
    const size = (this.#pooled?.sizeBytes ?? this.#chunkBytes) + chunk.length;
    if (size > maxBytes || size - this.#takenBytes > budget.leftBytes) return undefined;
    const expected = Math.min(Math.max(size, announcedBytes), maxBytes);
    const placed = expected > SMALL_BODY_BYTES ? this.#addToPool(chunk, expected) : undefined;
    if (placed !== undefined) {
      this.#count(this.#pooled?.takenBytes ?? 0);
      return placed;
    }
    if (this.#pooled !== undefined || size > maxCopiedBytes) return undefined;
    const copy = this.#copies.copy(chunk);
    appendChunk(this.#chunks, copy);
    this.#chunkBytes = size;
    this.#count(size);
    return [copy];
  }

  #addToPool(chunk: Buffer, expected: number): readonly Buffer[] | undefined {
    if (this.#pooled !== undefined) return this.#pooled.append(chunk, expected);
    const pooled = this.#options.pool?.open();
    if (pooled === undefined) return undefined;
    const release = pooled.keep();
    const hasRoom = this.#chunks.every((before) => pooled.append(before, expected) !== undefined);
    const placed = hasRoom ? pooled.append(chunk, expected) : undefined;
    if (placed === undefined) {
      release?.();
      return undefined;
    }
    this.#pooled = pooled;
    this.#release = release;
    this.#chunks = [];
    return placed;
  }

  #count(bytes: number): void {
    this.#options.budget.leftBytes += this.#takenBytes - bytes;
    this.#takenBytes = bytes;
  }

  /** Nothing is added any more. What is in the pool stays there until `release`. */
  finish(): StoredBody {
    this.#count(0);
    const pooled = this.#pooled;
    if (pooled !== undefined && pooled.sizeBytes > SMALL_BODY_BYTES) {
      pooled.finish();
      return pooled;
    }
    const { all } = this;
    return wrapBytes(all.length === 1 && all[0] !== undefined && pooled === undefined ? all[0] : Buffer.concat(all));
  }

  release(): void {
    this.#count(0);
    this.#chunks = [];
    this.#release?.();
  }
}
