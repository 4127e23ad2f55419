/** The purges of each site that edges receive. Callers publish changes in the same transaction. */
import type { Transaction } from 'kysely';
import { lockInTransaction } from '../engines/engine.ts';
import type { Executor, Schema } from '../schema/schema.ts';

export interface PurgeRow {
  /** Key of the resource. */
  readonly key: string;
  readonly siteId: number;
  readonly kind: 'url' | 'directory' | 'site';
  readonly target: string;
}

/** Locks the purges of these sites until the transaction ends. */
export async function lockPurges(trx: Transaction<Schema>, siteIds: readonly number[]): Promise<void> {
  // A fixed order prevents deadlocks.
  for (const siteId of siteIds.toSorted((a, b) => a - b)) await lockInTransaction(trx, `purge:${siteId}`);
}

export async function listPurges(x: Executor, siteId: number): Promise<readonly PurgeRow[]> {
  const rows = await x.selectFrom('purge').selectAll().where('site_id', '=', siteId).orderBy('key').execute();
  // `as`: written by `insertPurges` only.
  return rows.map(({ key, kind, target }) => ({ key, siteId, kind: kind as PurgeRow['kind'], target }));
}

export async function insertPurges(trx: Transaction<Schema>, purges: readonly PurgeRow[], now: number): Promise<void> {
  if (purges.length === 0) return;
  const rows = purges.map(({ key, siteId, kind, target }) => ({ key, site_id: siteId, kind, target, created_at: now }));
  await trx.insertInto('purge').values(rows).execute();
}

export async function deletePurges(trx: Transaction<Schema>, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await trx.deleteFrom('purge').where('key', 'in', keys).execute();
}

/** Deletes at most `limit` purges made before `before`. Returns the keys of their resources. */
export async function takeOldPurges(
  trx: Transaction<Schema>,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await trx
    .selectFrom('purge')
    .select('key')
    .where('created_at', '<', before)
    .orderBy('key')
    .limit(limit)
    .execute();
  const keys = rows.map(({ key }) => key);
  await deletePurges(trx, keys);
  return keys;
}
