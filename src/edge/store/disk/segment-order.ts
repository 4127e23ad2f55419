/**
 * The order in which segments are removed to make room, as in S3-FIFO: entries that were not used since they were put
 * are removed first; used ones are copied to a new segment when they are used again. docs/decisions/0562
 */
import { FILE_BLOCK_BYTES } from './paths.ts';
import { newestIn, type StoreSegment } from './segment.ts';

/** Share of all bytes that unused entries may take while others are removed. */
const NEW_SHARE = 1 / 8;
/** Share of the bytes of used entries, from the oldest, that are copied when they are used again. */
const OLD_SHARE = 1 / 4;

/** Returns the bytes of the segments and of their entries' body files. */
export function totalBytes(segments: Iterable<StoreSegment>): number {
  let bytes = 0;
  for (const segment of segments) bytes += bytesOf(segment);
  return bytes;
}

/** Sets `isOld` in each segment. `isFull`: entries will soon be removed. */
export function markOld(segments: readonly StoreSegment[], isFull: boolean): void {
  const used = segments.filter(({ holdsUsed }) => holdsUsed);
  let oldBytes = totalBytes(used) * OLD_SHARE;
  for (const segment of segments) segment.isOld = isFull;
  for (const segment of used.sort(byAge)) {
    segment.isOld &&= oldBytes > 0;
    oldBytes -= bytesOf(segment);
  }
}

/** Returns the segment to remove first; `undefined` if workers append to all of them. */
export function firstToLeave(
  segments: readonly StoreSegment[],
  isAppendedTo: (segment: StoreSegment) => boolean,
): StoreSegment | undefined {
  const newBytes = totalBytes(segments.filter(({ holdsUsed }) => !holdsUsed));
  const isNewFirst = newBytes > totalBytes(segments) * NEW_SHARE;
  const ordered = segments.filter((segment) => !isAppendedTo(segment)).sort(byAge);
  return ordered.find(({ holdsUsed }) => holdsUsed !== isNewFirst) ?? ordered[0];
}

function byAge(a: StoreSegment, b: StoreSegment): number {
  return newestIn(a) - newestIn(b);
}

/** Returns the bytes of a segment and of its entries' body files. */
export function bytesOf({ end, seenBytes, fileBlocks }: StoreSegment): number {
  const blocks = Math.ceil(Math.max(end, seenBytes) / FILE_BLOCK_BYTES) + fileBlocks;
  return blocks * FILE_BLOCK_BYTES;
}
