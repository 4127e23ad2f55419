/** Keys under which customers' secrets travel to edges on other machines. docs/decisions/0594 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function viewKeys({ bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('view_key')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('group_name', 'text', (column) => column.notNull())
        .addColumn('n', 'integer', (column) => column.notNull())
        .addColumn('secret', 'text', (column) => column.notNull())
        .addColumn('expires_at', bigint, (column) => column.notNull())
        .modifyEnd(tableEnd)
        .execute();
      await db.schema.createIndex('view_key_group').unique().on('view_key').columns(['group_name', 'n']).execute();
    },
  };
}
