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

export function createWriter(options: WriterOptions): BodyWriter {
  const { maxBodyBytes, maxMemoryBytes, maxCopiedBytes, pool, budget, announcedBytes = 0, openSpill } = options;
  const gathered = new GatheredBytes({ maxBytes: maxMemoryBytes, maxCopiedBytes, pool, budget, announcedBytes });
  let pieces: readonly Buffer[] = NO_PIECES;
  let sizeBytes = 0;
  let spill: Spill | undefined;
  let isOpen = true;

  const giveUp = (): false => {
    isOpen = false;
    gathered.release();
    spill?.discard();
    return false;
  };
  const startSpill = (): boolean => {
    const opened = openSpill();
    spill = opened;
    const isTaken = opened !== undefined && gathered.all.every((chunk) => opened.add(chunk));
    gathered.release();
    return isTaken;
  };

  return {
    add: (chunk) => {
      pieces = NO_PIECES;
      if (!isOpen) return false;
      if (sizeBytes + chunk.length > maxBodyBytes) return giveUp();
      sizeBytes += chunk.length;
      if (spill === undefined) {
        const placed = announcedBytes > maxMemoryBytes ? undefined : gathered.add(chunk);
        if (placed !== undefined) {
          pieces = placed;
          return true;
        }
        if (!startSpill()) return giveUp();
      }
      return spill?.add(chunk) === true || giveUp();
    },
    get pieces() {
      return pieces;
    },
    get memory() {
      return gathered.pooled;
    },
    drained: () => spill?.drained(),
    get isOpen() {
      return isOpen;
    },
    get sizeBytes() {
      return sizeBytes;
    },
    finish: () => {
      if (!isOpen) return undefined;
      isOpen = false;
      return spill === undefined ? gathered.finish() : spill.finish(sizeBytes);
    },
    discard: () => {
      if (isOpen) giveUp();
      else gathered.release();
    },
  };
}

const NO_PIECES: readonly Buffer[] = [];
