/** Gathers a body: in memory while it is small, in a file when it grows and there is a disk. */
import type { BodyPool } from './body-pool.ts';
import { GatheredBytes, type WriterBudget } from './gathered-bytes.ts';
import type { BodyWriter, StoredBody } from './store.ts';

/** A body that is being written to a file. */
export interface Spill {
  /** Copies the chunk. Returns false if the file cannot take it. */
  add(chunk: Buffer): boolean;
  drained(): Promise<void> | undefined;
  finish(sizeBytes: number): StoredBody;
  discard(): void;
}

export interface WriterOptions {
  readonly maxBodyBytes: number;
  /** Limit of the bytes kept in memory. */
  readonly maxMemoryBytes: number;
  /** Limit of the bytes kept in memory outside the pool. */
  readonly maxCopiedBytes: number;
  /** Absent if the store has none. */
  readonly pool?: BodyPool;
  /** Memory budget of all unfinished bodies. */
  readonly budget: WriterBudget;
  /** Announced size of the body; `undefined` if unknown. */
  readonly announcedBytes: number | undefined;
  /** Returns `undefined` if there is no disk or it cannot be used now. */
  readonly openSpill: () => Spill | undefined;
}

/** A class: an object literal with accessors would get a hidden class of its own each time, and never be optimized. */
export class GatheringWriter implements BodyWriter {
  readonly #options: WriterOptions;
  readonly #gathered: GatheredBytes;
  #pieces: readonly Buffer[] = NO_PIECES;
  #sizeBytes = 0;
  #spill: Spill | undefined;
  #isOpen = true;

  constructor(options: WriterOptions) {
    const { maxMemoryBytes, maxCopiedBytes, pool, budget, announcedBytes = 0 } = options;
    this.#options = options;
    this.#gathered = new GatheredBytes({ maxBytes: maxMemoryBytes, maxCopiedBytes, pool, budget, announcedBytes });
  }

  add(chunk: Buffer): boolean {
    const { maxBodyBytes, maxMemoryBytes, announcedBytes = 0 } = this.#options;
    this.#pieces = NO_PIECES;
    if (!this.#isOpen) return false;
    if (this.#sizeBytes + chunk.length > maxBodyBytes) return this.#giveUp();
    this.#sizeBytes += chunk.length;
    if (this.#spill === undefined) {
      const placed = announcedBytes > maxMemoryBytes ? undefined : this.#gathered.add(chunk);
      if (placed !== undefined) {
        this.#pieces = placed;
        return true;
      }
      if (!this.#startSpill()) return this.#giveUp();
    }
    return this.#spill?.add(chunk) === true || this.#giveUp();
  }

  #giveUp(): false {
    this.#isOpen = false;
    this.#gathered.release();
    this.#spill?.discard();
    return false;
  }

  #startSpill(): boolean {
    const spill = this.#options.openSpill();
    this.#spill = spill;
    const isTaken = spill !== undefined && this.#gathered.all.every((chunk) => spill.add(chunk));
    this.#gathered.release();
    return isTaken;
  }

  get pieces(): readonly Buffer[] {
    return this.#pieces;
  }

  get memory(): StoredBody | undefined {
    return this.#gathered.pooled;
  }

  drained(): Promise<void> | undefined {
    return this.#spill?.drained();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  finish(): StoredBody | undefined {
    if (!this.#isOpen) return undefined;
    this.#isOpen = false;
    return this.#spill === undefined ? this.#gathered.finish() : this.#spill.finish(this.#sizeBytes);
  }

  discard(): void {
    if (this.#isOpen) this.#giveUp();
    else this.#gathered.release();
  }
}

const NO_PIECES: readonly Buffer[] = [];
