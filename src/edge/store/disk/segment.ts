/** A segment as known to a worker: a file to which one worker appends units and which all workers read. */
import type { Stats } from 'node:fs';
import { join } from 'node:path';

const NAME = /^(?:new|used)-[0-9a-f]{16}\.segment$/;

/**
 * Time without a unit after which a segment may be removed although its worker has not finished it; its worker then
 * starts a new one.
 */
const IDLE_MS = 600_000;
/** Time without a unit after which a segment gets no more: its worker starts a new one, or is gone. */
const CLOSED_MS = 6 * 3_600_000;

export interface StoreSegment {
  /** Slot number in the index. */
  readonly slot: number;
  readonly name: string;
  readonly path: string;
  readonly isOwn: boolean;
  /** Whether its entries were copied here because they were used in another segment, rather than put here first. */
  readonly holdsUsed: boolean;
  /** Offsets and times of its units, in order. A unit that is not sealed yet has the time infinity. */
  readonly starts: number[];
  readonly times: number[];
  /** Offset after the last unit. */
  end: number;
  /** Whether the file exists. */
  isCreated: boolean;
  /** Size of the file when it was last read. */
  seenBytes: number;
  /** Time of the last write, or when the segment was first seen; epoch milliseconds. */
  activeAt: number;
  /** Number of keys whose entry is in this segment. */
  entries: number;
  /** Size of its entries' body files, in units of 4 KiB. */
  fileBlocks: number;
  /** Whether entries that are used are copied to a new segment, since this one is removed soon. */
  isOld: boolean;
}

/** An entry's place in a segment. */
export interface FoundEntry {
  readonly segment: StoreSegment;
  readonly offset: number;
  readonly length: number;
}

export function createSegment(folder: string, name: string, slot: number, isOwn: boolean): StoreSegment {
  return {
    slot,
    name,
    path: join(folder, name),
    isOwn,
    holdsUsed: name.startsWith('used'),
    starts: [],
    times: [],
    end: 0,
    isCreated: !isOwn,
    seenBytes: 0,
    activeAt: Date.now(),
    entries: 0,
    fileBlocks: 0,
    isOld: false,
  };
}

/** Returns a file name. `random` is 16 hexadecimal digits. */
export function nameSegment(random: string, holdsUsed: boolean): string {
  return `${holdsUsed ? 'used' : 'new'}-${random}.segment`;
}

export function isSegmentName(name: string): boolean {
  return NAME.test(name);
}

/** Notes what is known of the file before it is read on. */
export function noteFile(segment: StoreSegment, { size, mtimeMs }: Stats): void {
  segment.seenBytes = size;
  segment.activeAt = mtimeMs;
}

export function isIdle({ activeAt }: StoreSegment, now: number): boolean {
  return now - activeAt > IDLE_MS;
}

export function isClosed({ activeAt }: StoreSegment, now: number): boolean {
  return now - activeAt > CLOSED_MS;
}

/** Returns the time of the unit that contains the offset. */
export function timeAt({ starts, times }: StoreSegment, offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return times[low] ?? 0;
}

/** Returns the time of the last unit; 0 if there is none. */
export function newestIn({ times }: StoreSegment): number {
  return times.at(-1) ?? 0;
}

/** Whether both are the same entry, not only the same key's. */
export function isSamePlace(a: FoundEntry | undefined, b: FoundEntry): boolean {
  return a?.segment === b.segment && a.offset === b.offset;
}
