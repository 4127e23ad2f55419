/** Tables of the controls that share the database, and of their leases. docs/decisions/0577 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function controls({ bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('lease')
        .addColumn('name', 'text', (column) => column.primaryKey().notNull())
        .addColumn('holder', 'text', (column) => column.notNull())
        .addColumn('until', bigint, (column) => column.notNull())
        .modifyEnd(tableEnd)
        .execute();
      await db.schema
        .createTable('control')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('started_at', bigint, (column) => column.notNull())
        .addColumn('seen_at', bigint, (column) => column.notNull())
        .addColumn('facts', 'text', (column) => column.notNull())
        .addColumn('connectors_up', 'text', (column) => column.notNull())
        .modifyEnd(tableEnd)
        .execute();
    },
  };
}
