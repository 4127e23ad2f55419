/** The tasks of an account, newest first, without reading those of others. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export function cacheTaskAccount(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.createIndex('cache_task_account').on('cache_task').columns(['account_id', 'id']).execute();
    },
  };
}
