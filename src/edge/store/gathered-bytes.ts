/** Memory of a body that is being gathered: copies while it is small, then blocks of the pool. */
import { appendChunk, PagedCopies } from '#lib/joined-chunks.ts';
import type { BodyPool } from './body-pool.ts';
import { wrapBytes } from './memory-body.ts';
import type { PooledBody } from './pooled-body.ts';
import type { Release, StoredBody } from './store.ts';

/** Largest size of a body outside the pool: the memory tier copies it into its arena. */
export const SMALL_BODY_BYTES = 8 * 1024;

/** Memory budget shared by all writers of a store. */
export interface WriterBudget {
  /** Bytes left; may be below 0, since blocks are taken whole. */
  leftBytes: number;
}

export interface GatheredBytesOptions {
  readonly maxBytes: number;
  /** Size up to which a body may be gathered outside the pool if the pool has no room. */
  readonly maxCopiedBytes: number;
  /** `undefined` if the store has none. */
  readonly pool: BodyPool | undefined;
  /** Memory budget of all unfinished bodies. */
  readonly budget: WriterBudget;
  /** Announced size of the body; 0 if unknown. */
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

  /** The body in the pool; `undefined` if the bytes are not there. */
  get pooled(): PooledBody | undefined {
    return this.#pooled;
  }

  /** All bytes added so far. */
  get all(): readonly Buffer[] {
    return this.#pooled?.inMemory ?? this.#chunks;
  }

  /** Copies a chunk and returns its copy in pieces; `undefined` if there is no room, and then nothing was added. */
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

  /** Ends the body and returns it. Bytes in the pool stay there until `release`. */
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
