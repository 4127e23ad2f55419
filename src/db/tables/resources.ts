/** Feed resources: the newest state of each, numbered by revisions that grow in commit order. docs/decisions/0020 */
import { sql, type Transaction } from 'kysely';
import type { FeedPosition } from '#model/feed-position.ts';
import { wakeListeners } from '../engines/engine.ts';
import type { Executor, Schema } from '../schema/schema.ts';
import { pruneRevisionTags, tagRevision } from './revision-tags.ts';

/** Retention of deletions and tags; an edge that was away longer takes a snapshot. */
export const HISTORY_KEEP_MS = 30 * 24 * 3600 * 1000;

export type Change =
  | { readonly kind: string; readonly key: string; readonly op: 'put'; readonly body: unknown }
  | { readonly kind: string; readonly key: string; readonly op: 'delete' };

/** The newest position. */
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

/** Returns the body of a resource as it is stored; `undefined` if there is no such resource. */
export async function readResourceBody(
  x: Executor,
  { kind, key }: { readonly kind: string; readonly key: string },
): Promise<string | undefined> {
  const query = x.selectFrom('resource').select('body').where('kind', '=', kind).where('key', '=', key);
  return (await query.where('deleted', '=', 0).executeTakeFirst())?.body ?? undefined;
}

/**
 * Publishes changes, each key at most once, and returns the revision. Must be the LAST step of a transaction, except
 * for saving the revision: it locks the one row that every publish locks, so that revisions become visible in order.
 */
export async function publish(trx: Transaction<Schema>, changes: readonly Change[], now: number): Promise<number> {
  await wakeListeners(trx); // delivered at commit; sent before the lock is taken, to hold it briefly
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
  // A single statement, so that revision and tag are consistent.
  const row = await x
    .selectFrom('config_head')
    .innerJoin('revision_tag', 'revision_tag.revision', 'config_head.revision')
    .select(['epoch', 'config_head.revision', 'tag', 'min_revision'])
    .executeTakeFirstOrThrow();
  return { epoch: row.epoch, revision: row.revision, tag: row.tag, minRevision: row.min_revision };
}

/**
 * Returns the resources that changed after `from`, up to `to`, by revision: at most `limit` rows, unless a single
 * revision has more. Revisions are never split. The returned `to` is the revision up to which the rows are complete.
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
  // A revision larger than the limit is returned whole.
  const revision = beyond.revision;
  return { to: revision, rows: (await query.where('revision', '=', revision).execute()).map(toResource) };
}

/** Pages through existing resources, without tombstones, by kind and key. Run it inside `Db.snapshot`. */
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

/** Lists keys of a kind that have not changed since `before`, at most `limit`. */
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
 * Deletes tombstones and tags older than 30 days, and raises the lowest revision from which changes are complete.
 * Returns the number of tombstones.
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
