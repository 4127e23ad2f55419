/**
 * The tag of each revision: tells the history that an edge knows from that of a database which was put back to an
 * earlier state and counts on from there. docs/decisions/0023
 */
import type { Transaction } from 'kysely';
import type { FeedPosition } from '#model/feed-position.ts';
import { mintRevisionTag } from '../schema/revision-tag.ts';
import type { Executor, Schema } from '../schema/schema.ts';

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

/** False also for a place that was left more than 30 days ago. */
export async function isInHistory(x: Executor, { epoch, revision, tag }: FeedPosition): Promise<boolean> {
  const row = await x
    .selectFrom('config_head')
    .innerJoin('revision_tag', (join) => join.on('revision_tag.revision', '=', revision))
    .select('tag')
    .where('epoch', '=', epoch)
    .executeTakeFirst();
  return row?.tag === tag;
}

/** Forgets the tags made before `before` and all earlier ones, never that of the newest revision. */
export async function pruneRevisionTags(trx: Transaction<Schema>, before: number): Promise<void> {
  const { revision } = await trx.selectFrom('config_head').select('revision').executeTakeFirstOrThrow();
  const { newest } = await trx
    .selectFrom('revision_tag')
    .select((e) => e.fn.max('revision').as('newest'))
    .where('made_at', '<', before)
    .where('revision', '<', revision)
    .executeTakeFirstOrThrow();
  // SQL's null: no row.
  if (newest !== null) await trx.deleteFrom('revision_tag').where('revision', '<=', newest).execute();
}
