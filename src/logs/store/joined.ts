/** A file that is the concatenation of several blobs. */
import { createHash } from 'node:crypto';
import { type BlobSpan, type BlobStore, blobKey } from './blob-store.ts';

export interface JoinedFile {
  readonly parts: readonly JoinedPart[];
  readonly bytes: number;
  /** Strong entity tag, different for each size of the file. RFC 9110 §8.8.3 */
  readonly etag: string;
}

export interface JoinedPart {
  readonly key: string;
  /** Start offset in the blob; absent: 0. */
  readonly start?: number;
  readonly bytes: number;
}

export function joinBlobs(parts: readonly JoinedPart[]): JoinedFile {
  return { parts, bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0), etag: tagOf(parts) };
}

/** Returns the tag, made from the keys alone: the blob of a key never changes. */
function tagOf(parts: readonly JoinedPart[]): string {
  const hash = createHash('sha256');
  for (const { key, bytes } of parts) hash.update(`${key} ${bytes}\n`);
  return `"${hash.digest('base64url').slice(0, 22)}"`;
}

/** Reads the bytes from `start` up to, not including, `end`, one blob at a time. */
export async function* readJoined(
  blobs: BlobStore,
  { parts }: JoinedFile,
  { start, end }: BlobSpan,
): AsyncGenerator<Buffer> {
  let at = 0;
  for (const { key, bytes, start: first = 0 } of parts) {
    const from = Math.max(start - at, 0);
    const to = Math.min(end - at, bytes);
    at += bytes;
    if (from >= to) continue;
    const checked = blobKey(key);
    if (checked === undefined) throw new Error(`not a key of a blob: ${key}`);
    let missing = to - from;
    for await (const chunk of await blobs.read(checked, { start: first + from, end: first + to })) {
      missing -= chunk.length;
      yield chunk;
    }
    // The reader was promised these bytes, and would wait.
    if (missing > 0) throw new Error(`${key} lacks ${missing} bytes`);
  }
}
