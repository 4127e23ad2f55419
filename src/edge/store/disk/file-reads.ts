/**
 * Runs generators that yield the byte ranges of a file that they need, synchronously or in the background. A missing
 * file is not an error: nothing is read.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { hasCode, unlessMissing } from '#lib/file-error.ts';
import { forEachAtOnce } from '#lib/for-each-at-once.ts';
import type { ByteRead } from './unit.ts';

type Reads = Generator<ByteRead, unknown, Buffer>;

/** Reads synchronously. Returns false if it stopped at `until` (milliseconds of `performance.now()`) before the end. */
export function runReads(path: string, reads: Reads, until: number): boolean {
  const descriptor = openIfPresent(path);
  if (descriptor === undefined) return true;
  try {
    let step = reads.next();
    while (step.done !== true && performance.now() <= until) {
      const bytes = Buffer.allocUnsafe(step.value.length);
      const read = readSync(descriptor, bytes, 0, bytes.length, step.value.position);
      step = reads.next(bytes.subarray(0, read));
    }
    return step.done === true;
  } finally {
    closeSync(descriptor);
  }
}

/** Reads at the same time: each waits for a turn of the event loop, which may be long. */
const READ_AT_ONCE = 16;

/** Runs generators on one file in the background, until the end or until `isStopped` returns true. */
export async function runReadsInBackground(
  path: string,
  all: readonly Reads[],
  isStopped: () => boolean,
): Promise<void> {
  const handle = await unlessMissing(open(path, 'r'));
  if (handle === undefined) return;
  await using _ = handle;
  await forEachAtOnce(all, READ_AT_ONCE, async (reads) => {
    for (let step = reads.next(); step.done !== true && !isStopped(); ) {
      const bytes = Buffer.allocUnsafe(step.value.length);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, step.value.position);
      step = reads.next(bytes.subarray(0, bytesRead));
    }
  });
}

function openIfPresent(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
