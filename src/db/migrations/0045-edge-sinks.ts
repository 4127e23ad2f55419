/** Sinks that an edge has trouble with, as it reported last: a JSON list. docs/decisions/0743 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export function edgeSinks(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('edge')
        .addColumn('sinks', 'text', (column) => column.notNull().defaultTo('[]'))
        .execute();
    },
  };
}
