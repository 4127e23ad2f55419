/**
 * What edges are told: the newest state of every resource, numbered by revisions that only grow in the order of
 * commits. docs/decisions/0020
 */
import { sql, type Transaction } from 'kysely';
import type { FeedPosition } from '#model/feed-position.ts';
import { wakeListeners } from '../engines/engine.ts';
import type { Executor, Schema } from '../schema/schema.ts';
import { pruneRevisionTags, tagRevision } from './revision-tags.ts';

/** How long deletions and tags are kept; an edge that was away longer takes a snapshot. */
const HISTORY_KEEP_MS = 30 * 24 * 3600 * 1000;

export type Change =
  | { readonly kind: string; readonly key: string; readonly op: 'put'; readonly body: unknown }
  | { readonly kind: string; readonly key: string; readonly op: 'delete' };

/** The newest place. */
export interface ConfigHead extends FeedPosition {
  /** Oldest revision from which changes are complete; readers at an older one need a snapshot. */
  readonly minRevision: number;
}

/** A resource's newest state; `body` is JSON as text, empty when deleted. */
export interface ResourceRow {
  readonly kind: string;
  readonly key: string;
  readonly revision: number;
  readonly isDeleted: boolean;
  readonly body: string;
}

/**
 * The LAST step of a transaction (only writing the revision back may follow): it takes the one row that every publish
 * takes, so revisions become visible in their order. A key stands in `changes` once. Gives the revision.
 */
export async function publish(trx: Transaction<Schema>, changes: readonly Change[], now: number): Promise<number> {
  await wakeListeners(trx); // heard when we commit; said before the lock, which is held for as short as can be
  const { revision } = await trx
    .updateTable('config_head')
    .set((e) => ({ revision: e('revision', '+', 1) }))
    .returning('revision')
    .executeTakeFirstOrThrow();
  await tagRevision(trx, revision, now);
  for (const change of changes) {
    const values = {
      revision,
      deleted: change.op === 'delete' ? 1 : 0,
      changed_at: now,
      body: change.op === 'delete' ? '' : JSON.stringify(change.body),
    };
    await trx
      .insertInto('resource')
      .values({ kind: change.kind, key: change.key, ...values })
      .onConflict((conflict) => conflict.columns(['kind', 'key']).doUpdateSet(values))
      .execute();
  }
  return revision;
}

export async function readConfigHead(x: Executor): Promise<ConfigHead> {
  // One statement, so that revision and tag belong together.
  const row = await x
    .selectFrom('config_head')
    .innerJoin('revision_tag', 'revision_tag.revision', 'config_head.revision')
    .select(['epoch', 'config_head.revision', 'tag', 'min_revision'])
    .executeTakeFirstOrThrow();
  return { epoch: row.epoch, revision: row.revision, tag: row.tag, minRevision: row.min_revision };
}

/**
 * Every resource that changed after `from`, up to `to`, by revision: at most `limit` rows, and then whole revisions
 * only beyond them, never part of one. `to` in the answer is the revision up to which it is complete.
 */
export async function changesSince(
  x: Executor,
  { from, to, limit }: { readonly from: number; readonly to: number; readonly limit: number },
): Promise<{ readonly to: number; readonly rows: readonly ResourceRow[] }> {
  const query = selectResources(x)
    .where('revision', '>', from)
    .where('revision', '<=', to)
    .orderBy('revision')
    .orderBy('kind')
    .orderBy('key');
  const rows = (await query.limit(limit + 1).execute()).map(toResource);
  const beyond = rows[limit];
  if (beyond === undefined) return { to, rows };
  const whole = rows.filter((row) => row.revision < beyond.revision);
  const last = whole.at(-1);
  if (last !== undefined) return { to: last.revision, rows: whole };
  // One revision that is larger than the limit goes as it is.
  const revision = beyond.revision;
  return { to: revision, rows: (await query.where('revision', '=', revision).execute()).map(toResource) };
}

/** Pages through what exists (no tombstones), by kind and key. Run it inside `Db.snapshot`. */
export async function* allResources(x: Executor, pageSize: number): AsyncGenerator<readonly ResourceRow[]> {
  let after = { kind: '', key: '' };
  for (;;) {
    const rows = await selectResources(x)
      .where('deleted', '=', 0)
      .where(sql<boolean>`(kind, key) > (${after.kind}, ${after.key})`)
      .orderBy('kind')
      .orderBy('key')
      .limit(pageSize)
      .execute();
    if (rows.length > 0) yield rows.map(toResource);
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) return;
    after = last;
  }
}

/** Keys of a kind that have not changed since `before`, at most `limit`. */
export async function listResourcesBefore(
  x: Executor,
  { kind, before, limit }: { readonly kind: string; readonly before: number; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await x
    .selectFrom('resource')
    .select('key')
    .where('kind', '=', kind)
    .where('deleted', '=', 0)
    .where('changed_at', '<', before)
    .orderBy('key')
    .limit(limit)
    .execute();
  return rows.map(({ key }) => key);
}

/**
 * Forgets deletions and tags older than 30 days and raises the lowest revision that can be told as changes. Gives how
 * many deletions.
 */
export async function pruneHistory(trx: Transaction<Schema>, now: number): Promise<number> {
  await pruneRevisionTags(trx, now - HISTORY_KEEP_MS);
  const { rows } = await sql<{ revision: number }>`
    delete from resource where deleted = 1 and changed_at < ${now - HISTORY_KEEP_MS} returning revision
  `.execute(trx);
  if (rows.length === 0) return 0;
  const newest = rows.reduce((max, { revision }) => Math.max(max, revision), 0);
  await trx.updateTable('config_head').set({ min_revision: newest }).where('min_revision', '<', newest).execute();
  return rows.length;
}

function selectResources(x: Executor) {
  return x.selectFrom('resource').select(['kind', 'key', 'revision', 'deleted', 'body']);
}

function toResource(row: { kind: string; key: string; revision: number; deleted: number; body: string }): ResourceRow {
  return { kind: row.kind, key: row.key, revision: row.revision, isDeleted: row.deleted === 1, body: row.body };
}
