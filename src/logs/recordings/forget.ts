/** Deletes recordings whose deletion was requested or whose retention has ended. */
import type { Db } from '#db/open.ts';
import { dropEmptyRecordings, dropPieces, listPiecesToForget } from '#db/tables/live/recordings.ts';
import type { BlobStore } from '../store/blob-store.ts';
import { deleteBlobs } from '../store/delete-blobs.ts';

const PIECES_AT_ONCE = 500;

/**
 * Resolves when everything that is due at `now` is deleted. A piece whose bytes cannot be deleted keeps its row for the
 * next time.
 */
export async function forgetRecordings(
  { db, blobs }: { readonly db: Db; readonly blobs: BlobStore },
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const pieces = {
    what: 'pieces of recordings',
    list: (after: string) => listPiecesToForget(db.query, { now, after, limit: PIECES_AT_ONCE }),
    forget: (keys: readonly string[]) => dropPieces(db.query, keys),
  };
  await deleteBlobs(blobs, pieces, signal);
  await dropEmptyRecordings(db.query, now);
}
