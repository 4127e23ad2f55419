/** Groups of edges, and the groups that serve each domain. docs/decisions/0592 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function edgeGroups({ bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('edge_group')
        .addColumn('name', 'text', (column) => column.primaryKey())
        .addColumn('is_default', 'integer', (column) => column.notNull())
        .addColumn('version', 'integer', (column) => column.notNull())
        .addColumn('created_at', bigint, (column) => column.notNull())
        .modifyEnd(tableEnd)
        .execute();
      await sql`insert into edge_group (name, is_default, version, created_at) values ('default', 1, 1, 0)`.execute(db);
      await db.schema
        .createTable('domain_group')
        .addColumn('domain_id', 'integer', (column) => column.notNull().references('domain.id'))
        .addColumn('group_name', 'text', (column) => column.notNull().references('edge_group.name'))
        .addColumn('left_at', bigint)
        .addPrimaryKeyConstraint('domain_group_key', ['domain_id', 'group_name'])
        .modifyEnd(tableEnd)
        .execute();
      await db.schema.createIndex('domain_group_group').on('domain_group').columns(['group_name', 'left_at']).execute();
    },
  };
}
