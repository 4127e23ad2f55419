/** Parts of a day's log file have positions: what comes later stands behind what is there. docs/decisions/0435 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function logPositions(_words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('log_part')
        .addColumn('position', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
      // Files that exist keep the order in which they were served.
      await sql`
        update log_part set position = numbered.position
          from (select key, row_number() over (partition by domain_id, day order by key) as position from log_part) as numbered
          where numbered.key = log_part.key
      `.execute(db);
      await db.schema.dropIndex('log_part_domain').execute();
      await db.schema
        .createIndex('log_part_position')
        .unique()
        .on('log_part')
        .columns(['domain_id', 'day', 'position'])
        .execute();
    },
  };
}
