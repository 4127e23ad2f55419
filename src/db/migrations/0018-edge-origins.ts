/** What an edge's probes know against origins, as it reported last: a JSON list. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function edgeOrigins(_words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('edge')
        .addColumn('origins', 'text', (column) => column.notNull().defaultTo('[]'))
        .execute();
    },
  };
}
