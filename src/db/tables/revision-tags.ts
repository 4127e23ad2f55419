/**
 * The tags of revisions. They reveal a database that was restored to an earlier state and counts on from there, since
 * its history differs from the one that an edge knows. docs/decisions/0023
 */
import { sql, type Transaction } from 'kysely';
import type { FeedPosition } from '#model/feed-position.ts';
import { mintRevisionTag } from '../schema/revision-tag.ts';
import type { Executor, Schema } from '../schema/schema.ts';
import { inIds } from '../statements/lists.ts';

/** Tags a revision; must run in the transaction that makes it. */
export async function tagRevision(trx: Transaction<Schema>, revision: number, now: number): Promise<void> {
  await trx.insertInto('revision_tag').values({ revision, tag: mintRevisionTag(), made_at: now }).execute();
}

/** Throws if the revision has no tag any more. */
export async function readRevisionTag(x: Executor, revision: number): Promise<string> {
  const { tag } = await x
    .selectFrom('revision_tag')
    .select('tag')
    .where('revision', '=', revision)
    .executeTakeFirstOrThrow();
  return tag;
}

/** Whether the position is in our history; false if it was superseded more than 30 days ago. */
export async function isInHistory(x: Executor, { epoch, revision, tag }: FeedPosition): Promise<boolean> {
  const row = await x
    .selectFrom('config_head')
    .innerJoin('revision_tag', (join) => join.on('revision_tag.revision', '=', revision))
    .select('tag')
    .where('epoch', '=', epoch)
    .executeTakeFirst();
  return row?.tag === tag;
}

/** Like `isInHistory`, for many positions with one query. */
export async function readHistory(
  x: Executor,
  positions: readonly FeedPosition[],
): Promise<(position: FeedPosition) => boolean> {
  const revisions = [...new Set(positions.map(({ revision }) => revision))];
  const rows = await x
    .selectFrom('config_head')
    .innerJoin('revision_tag', (join) => join.onTrue())
    .select(['epoch', 'revision_tag.revision', 'tag'])
    .where(sql<boolean>`revision_tag.revision ${inIds(x, revisions)}`)
    .execute();
  const known = new Map(rows.map((row) => [row.revision, row]));
  return ({ epoch, revision, tag }) => {
    const found = known.get(revision);
    return found !== undefined && found.epoch === epoch && found.tag === tag;
  };
}

/** Returns when the first known revision after this one was made; `undefined` if there is none. */
export async function readTimeAfter(x: Executor, revision: number): Promise<number | undefined> {
  const row = await x
    .selectFrom('revision_tag')
    .select('made_at')
    .where('revision', '>', revision)
    .orderBy('revision')
    .limit(1)
    .executeTakeFirst();
  return row?.made_at;
}

/** Deletes tags made before `before`, and all earlier ones, but never the newest revision's. */
export async function pruneRevisionTags(trx: Transaction<Schema>, before: number): Promise<void> {
  const { revision } = await trx.selectFrom('config_head').select('revision').executeTakeFirstOrThrow();
  const { newest } = await trx
    .selectFrom('revision_tag')
    .select((e) => e.fn.max('revision').as('newest'))
    .where('made_at', '<', before)
    .where('revision', '<', revision)
    .executeTakeFirstOrThrow();
  // SQL's max of no rows is null.
  if (newest !== null) await trx.deleteFrom('revision_tag').where('revision', '<=', newest).execute();
}
