/** Gathers a body: in memory while it is small, in a file when it grows and there is a disk. */
import { appendChunk, PagedCopies } from '#lib/joined-chunks.ts';
import { createMemoryBody } from './memory-body.ts';
import type { BodyWriter, StoredBody } from './store.ts';

/** Shared by all writers of a store. */
export interface WriterBudget {
  leftBytes: number;
}

/** A body on its way into a file. */
export interface Spill {
  add(chunk: Buffer): boolean;
  drained(): Promise<void> | undefined;
  finish(sizeBytes: number): StoredBody;
  discard(): void;
}

export interface WriterOptions {
  readonly maxBodyBytes: number;
  /** More is not kept in memory. */
  readonly maxMemoryBytes: number;
  /** Memory budget of all unfinished bodies. */
  readonly budget: WriterBudget;
  /** `undefined`: there is no disk, or it cannot be used now. */
  readonly openSpill: () => Spill | undefined;
}

export function createWriter({ maxBodyBytes, maxMemoryBytes, budget, openSpill }: WriterOptions): BodyWriter {
  let chunks: Buffer[] = [];
  const copies = new PagedCopies();
  let pieces: readonly Buffer[] = NO_PIECES;
  let heldBytes = 0;
  let sizeBytes = 0;
  let spill: Spill | undefined;
  let isOpen = true;

  const letGo = (): void => {
    budget.leftBytes += heldBytes;
    heldBytes = 0;
    chunks = [];
  };
  const giveUp = (): false => {
    isOpen = false;
    letGo();
    spill?.discard();
    return false;
  };
  const keepInMemory = (chunk: Buffer): boolean => {
    if (heldBytes + chunk.length > maxMemoryBytes || chunk.length > budget.leftBytes) return false;
    heldBytes += chunk.length;
    budget.leftBytes -= chunk.length;
    const copy = copies.copy(chunk);
    appendChunk(chunks, copy);
    pieces = [copy];
    return true;
  };
  const startSpill = (): boolean => {
    const opened = openSpill();
    spill = opened;
    const isTaken = opened !== undefined && chunks.every((chunk) => opened.add(chunk));
    letGo();
    return isTaken;
  };

  return {
    add: (chunk) => {
      pieces = NO_PIECES;
      if (!isOpen) return false;
      if (sizeBytes + chunk.length > maxBodyBytes) return giveUp();
      sizeBytes += chunk.length;
      if (spill === undefined) {
        if (keepInMemory(chunk)) return true;
        if (!startSpill()) return giveUp();
      }
      return spill?.add(chunk) === true || giveUp();
    },
    get pieces() {
      return pieces;
    },
    memory: undefined,
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
      const body = spill === undefined ? createMemoryBody(chunks, sizeBytes) : spill.finish(sizeBytes);
      letGo();
      return body;
    },
    discard: () => {
      if (isOpen) giveUp();
    },
  };
}

const NO_PIECES: readonly Buffer[] = [];
