/** Searches parts of a log: reads lines, within bounds, and returns those that match. */
import { createGunzip } from 'node:zlib';
import type { BlobKey, BlobStore } from './store/blob-store.ts';

export interface SearchedPart {
  readonly key: BlobKey;
  readonly bytes: number;
  /** Matches the fields of a line. */
  readonly matches: (fields: readonly string[]) => boolean;
}

export interface FoundLines {
  /** The newest lines that match, in the order of the file. */
  readonly lines: readonly string[];
  /** Bytes of the lines that were read. */
  readonly readBytes: number;
  /** Whether there was more to read, or there were more that match. */
  readonly isCut: boolean;
}

export interface SearchBounds {
  readonly maxLines: number;
  /** Limit of the lines' bytes; the file is compressed. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Longer than any line of an edge of ours. */
const MAX_LINE_CHARS = 128 * 1024;

/**
 * Reads one part. What cannot be read (a blob that is gone, bytes that an edge damaged) ends it early, as if the bounds
 * were reached.
 */
export async function searchPart(
  blobs: Pick<BlobStore, 'read'>,
  { key, bytes, matches }: SearchedPart,
  { maxLines, maxBytes, signal }: SearchBounds,
): Promise<FoundLines> {
  const lines: string[] = [];
  let readBytes = 0;
  let found = 0;
  let rest = '';
  const take = (line: string) => {
    if (!matches(line.split('\t'))) return;
    found += 1;
    lines.push(line);
    if (lines.length > maxLines) lines.shift();
  };
  const seen = (isWhole: boolean): FoundLines => ({ lines, readBytes, isCut: !isWhole || found > maxLines });
  try {
    const source = await blobs.read(key, { start: 0, end: bytes });
    const unpacked = createGunzip();
    source.once('error', (error) => unpacked.destroy(error));
    try {
      for await (const chunk of source.pipe(unpacked)) {
        readBytes += chunk.length;
        const pieces = (rest + chunk.toString('utf8')).split('\n');
        rest = pieces.pop() ?? '';
        for (const line of pieces) take(line);
        if (signal.aborted || readBytes >= maxBytes || rest.length > MAX_LINE_CHARS) return seen(false);
      }
    } finally {
      source.destroy();
      unpacked.destroy();
    }
  } catch {
    return seen(false);
  }
  if (rest !== '') take(rest);
  return seen(true);
}
