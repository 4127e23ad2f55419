/** Deletes many blobs, and then their records. */
import { type BlobStore, blobKey } from './blob-store.ts';

export interface OldBlobs {
  /** Names the blobs in the error, such as `log files`. */
  readonly what: string;
  /** Returns at most some hundreds of keys in order, starting after the key `after`; none if there are no more. */
  list(after: string): Promise<readonly string[]>;
  /** Called once the blobs of these keys are deleted. */
  forget(keys: readonly string[]): Promise<void>;
}

/** Deletes all that it can. Rejects at the end with the first error, if any. */
export async function deleteBlobs(
  blobs: BlobStore,
  { what, list, forget }: OldBlobs,
  signal: AbortSignal,
): Promise<void> {
  const failures: unknown[] = [];
  let after = '';
  for (;;) {
    signal.throwIfAborted();
    const keys = await list(after);
    const deleted: string[] = [];
    for (const key of keys) {
      try {
        const checked = blobKey(key);
        if (checked !== undefined) await blobs.delete(checked);
        deleted.push(key);
      } catch (error) {
        failures.push(error);
      }
    }
    await forget(deleted);
    const last = keys.at(-1);
    if (last === undefined) break;
    after = last;
  }
  if (failures.length > 0) throw new Error(`${failures.length} ${what} could not be deleted`, { cause: failures[0] });
}
