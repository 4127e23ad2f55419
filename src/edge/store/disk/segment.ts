/** A segment as a worker knows it: a file that one worker appends units to, and that all read. */
import { join } from 'node:path';

const NAME = /^(?:new|used)-[0-9a-f]{16}\.segment$/;

/** A segment that got no unit for so long may be removed, as if it got none any more: its worker takes a new one then. */
const IDLE_MS = 600_000;
/** A segment that got no unit for so long gets none any more: its worker takes a new one, or is gone. */
const CLOSED_MS = 6 * 3_600_000;

export interface StoreSegment {
  /** Number in the index. */
  readonly slot: number;
  readonly name: string;
  readonly path: string;
  readonly isOwn: boolean;
  /** True: the entries here were used while they lay in another segment. False: they were put here first. */
  readonly holdsUsed: boolean;
  /** Positions and times of its units, in their order. A unit that is not written yet has the time infinity. */
  readonly starts: number[];
  readonly times: number[];
  /** Position behind the last unit. */
  end: number;
  /** The file is there. */
  isCreated: boolean;
  /** Bytes of the file when it was last read. */
  seenBytes: number;
  /** When something was written last, or the segment was first seen; epoch milliseconds. */
  activeAt: number;
  /** Keys whose entry lies here. */
  entries: number;
  /** Body files of the entries that lie here, in units of 4 KiB. */
  fileBlocks: number;
  /** What is used here is copied to a new segment, since this one is removed before others. */
  isOld: boolean;
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

/** `random`: 16 hexadecimal digits. */
export function nameSegment(random: string, holdsUsed: boolean): string {
  return `${holdsUsed ? 'used' : 'new'}-${random}.segment`;
}

export function isSegmentName(name: string): boolean {
  return NAME.test(name);
}

export function isIdle({ activeAt }: StoreSegment, now: number): boolean {
  return now - activeAt > IDLE_MS;
}

export function isClosed({ activeAt }: StoreSegment, now: number): boolean {
  return now - activeAt > CLOSED_MS;
}

/** Time of the unit that has this position. */
export function timeAt({ starts, times }: StoreSegment, offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return times[low] ?? 0;
}

/** Time of the last unit; 0: there is none. */
export function newestIn({ times }: StoreSegment): number {
  return times.at(-1) ?? 0;
}
