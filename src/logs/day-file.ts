/**
 * A day's log file of one domain: its parts one after another are one gzip file (RFC 1952 §2.2). It grows at its end only.
 * docs/decisions/0435
 */
import { createHash } from 'node:crypto';
import { type LogPartRow, listLogParts } from '#db/log-parts.ts';
import type { Executor } from '#db/schema.ts';
import { type BlobStore, type ByteSpan, blobKey } from './store/blob-store.ts';

export interface DayFile {
  readonly parts: readonly LogPartRow[];
  readonly bytes: number;
  /** A strong entity tag: another one for each size of the file. RFC 9110 §8.8.3 */
  readonly etag: string;
}

export async function findDayFile(x: Executor, domainId: number, day: string): Promise<DayFile | undefined> {
  const parts = await listLogParts(x, domainId, day);
  if (parts.length === 0) return undefined;
  return { parts, bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0), etag: tagOf(parts) };
}

/** What a key names never changes. */
function tagOf(parts: readonly LogPartRow[]): string {
  const hash = createHash('sha256');
  for (const { key, bytes } of parts) hash.update(`${key} ${bytes}\n`);
  return `"${hash.digest('base64url').slice(0, 22)}"`;
}

/** Reads a day's file from `start` up to, but not including, `end`; one part is open at a time. */
export async function* readDayFile(
  blobs: BlobStore,
  { parts }: DayFile,
  { start, end }: ByteSpan,
): AsyncGenerator<Buffer> {
  let at = 0;
  for (const { key, bytes } of parts) {
    const from = Math.max(start - at, 0);
    const to = Math.min(end - at, bytes);
    at += bytes;
    if (from >= to) continue;
    const checked = blobKey(key);
    if (checked === undefined) throw new Error(`not a key of a log part: ${key}`);
    let missing = to - from;
    for await (const chunk of await blobs.read(checked, { start: from, end: to })) {
      missing -= chunk.length;
      yield chunk;
    }
    // Whoever reads was promised them, and would wait.
    if (missing > 0) throw new Error(`${key} lacks ${missing} bytes`);
  }
}
