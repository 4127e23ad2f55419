/** Lists of addresses of an account, and the domains that use them. docs/decisions/0636 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function addressLists({ bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('address_list')
        .addColumn('account_id', 'integer', (column) => column.notNull().references('account.id'))
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('entries', 'text', (column) => column.notNull())
        .addColumn('changed_at', bigint, (column) => column.notNull())
        .addPrimaryKeyConstraint('address_list_key', ['account_id', 'name'])
        .modifyEnd(tableEnd)
        .execute();
      await db.schema
        .createTable('address_list_use')
        .addColumn('domain_id', 'integer', (column) => column.notNull().references('domain.id'))
        .addColumn('account_id', 'integer', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('address_list_use_key', ['domain_id', 'name'])
        .addForeignKeyConstraint('address_list_use_list', ['account_id', 'name'], 'address_list', [
          'account_id',
          'name',
        ])
        .modifyEnd(tableEnd)
        .execute();
      await db.schema
        .createIndex('address_list_use_name')
        .on('address_list_use')
        .columns(['account_id', 'name'])
        .execute();
    },
  };
}
