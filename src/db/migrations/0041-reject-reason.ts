/** Domains keep why their review was rejected. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export function rejectReason(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('domain')
        .addColumn('reject_reason', 'text', (column) => column.notNull().defaultTo(''))
        .execute();
    },
  };
}
