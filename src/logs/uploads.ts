/**
 * Control's side of log parts that edges store themselves: signed addresses for parts that control does not have, and
 * the row of a part that is stored. Each step may be repeated, by any control. docs/decisions/0744
 */
import type { Db } from '#db/open.ts';
import { hasLogPart } from '#db/tables/log-parts.ts';
import { addPart, blobKeyOf, withOwner } from './receive.ts';
import { formatPartKey } from './report.ts';
import type { BlobUploads } from './store/blob-store.ts';
import type { PartPlace, StoredLogPart, WantedPart } from './upload-messages.ts';

export interface PartUploads {
  readonly db: Db;
  readonly uploads: BlobUploads;
}

/** Returns where each part is to be stored, in their order. `group`: of the edge. */
export async function findPlaces(
  { db, uploads }: PartUploads,
  parts: readonly WantedPart[],
  group: string | undefined,
): Promise<readonly PartPlace[]> {
  const places: PartPlace[] = [];
  for (const part of parts) {
    const key = blobKeyOf(await withOwner(db, part, group));
    const name = formatPartKey(part.key);
    if (await hasLogPart(db.query, key)) places.push({ key: name, have: true });
    else places.push({ key: name, ...(await uploads.signPut(key, part)) });
  }
  return places;
}

/** Takes parts that edges say are stored. Returns the keys of those that are, with the right size. */
export async function takeStored(
  { db, uploads }: PartUploads,
  parts: readonly StoredLogPart[],
  group: string | undefined,
): Promise<readonly string[]> {
  const stored: string[] = [];
  for (const part of parts) {
    const owned = await withOwner(db, part, group);
    const key = blobKeyOf(owned);
    const isThere = (await hasLogPart(db.query, key)) || (await uploads.sizeOf(key)) === part.bytes;
    if (!isThere) continue;
    await addPart(db, owned, db.clock());
    stored.push(formatPartKey(part.key));
  }
  return stored;
}
