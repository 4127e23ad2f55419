/** Control's side of recordings: stores each piece once, even if it is sent again. docs/decisions/0504 */
import type { Db } from '#db/open.ts';
import { listDomainStarts } from '#db/tables/domains.ts';
import { findReportable } from '#db/tables/edge-groups.ts';
import {
  findRecording,
  lookUpPiece,
  type PieceOutcome,
  type Received,
  takeReceived,
} from '#db/tables/live/recordings.ts';
import { type BlobKey, type BlobStore, blobKey } from '../store/blob-store.ts';

/** How far an edge's clock may be behind the clock that set a domain's creation time. */
const SKEW_MS = 60_000;

/** A message of a live process, before the piece has its key in the store. */
export type Sent = Omit<Received, 'piece'> & {
  readonly piece: Omit<NonNullable<Received['piece']>, 'key'> | undefined;
  /** Group of the edge; absent for an edge of control's machine. */
  readonly group?: string | undefined;
};

/**
 * Resolves when it is stored durably. `foreign`: this database has no such domain, or its id belongs to another one
 * now, or the edge's group does not serve it.
 */
export async function takeRecording(
  { db, blobs }: { readonly db: Db; readonly blobs: BlobStore },
  { piece, group, ...sent }: Sent,
  bytes: Uint8Array,
): Promise<PieceOutcome | 'foreign'> {
  const { id, domainId, beganAt } = sent.recording;
  const starts = await listDomainStarts(db.query, [domainId]);
  const known = await findRecording(db.query, id);
  const isForeign =
    !(await findReportable(db.query, group, [domainId])).has(domainId) ||
    (known !== undefined && known.domainId !== domainId) ||
    beganAt < (starts.get(domainId) ?? Number.POSITIVE_INFINITY) - SKEW_MS;
  if (piece === undefined)
    return isForeign ? 'foreign' : await db.transaction((trx) => takeReceived(trx, { ...sent, piece }));
  const key = keyOf(domainId, id, piece.n);
  const found = await lookUpPiece(db.query, id, piece.n);
  // An earlier try may have stored the bytes and failed before their row was written; nothing else would delete them.
  if (isForeign) {
    if (found !== 'known') await blobs.delete(key);
    return 'foreign';
  }
  // First the bytes: a row whose blob is missing would be a piece that cannot be played.
  if (found === 'new') await blobs.put(key, bytes);
  const taken =
    found === 'unwanted'
      ? found
      : await db.transaction((trx) => takeReceived(trx, { ...sent, piece: { ...piece, key } }));
  if (taken === 'unwanted') await blobs.delete(key);
  return taken;
}

function keyOf(domainId: number, recording: string, n: number): BlobKey {
  const text = `recordings/${domainId}/${recording}/${n}.mp4`;
  const checked = blobKey(text);
  if (checked === undefined) throw new Error(`not a key of a piece: ${text}`);
  return checked;
}
