/** Tables of the certificates that the service obtains. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function acme({ bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('acme_account')
        .addColumn('directory', 'text', (column) => column.primaryKey())
        .addColumn('private_key', 'text', (column) => column.notNull())
        .addColumn('url', 'text', (column) => column.notNull())
        .addColumn('created_at', bigint, (column) => column.notNull())
        .modifyEnd(tableEnd)
        .execute();
      await db.schema
        .createTable('certificate_order')
        .addColumn('domain_id', 'integer', (column) => column.primaryKey().references('domain.id'))
        .addColumn('state', 'text', (column) =>
          column.notNull().check(sql`state in ('pending', 'challenged', 'issued', 'failed')`),
        )
        .addColumn('problem', 'text', (column) => column.notNull())
        .addColumn('detail', 'text', (column) => column.notNull())
        .addColumn('ssl_key', 'text', (column) => column.notNull())
        .addColumn('issued_key', 'text', (column) => column.notNull())
        .addColumn('url', 'text', (column) => column.notNull())
        .addColumn('challenge_key', 'text', (column) => column.notNull())
        .addColumn('challenge_revision', bigint, (column) => column.notNull())
        .addColumn('challenge_told_at', bigint, (column) => column.notNull())
        .addColumn('private_key', 'text', (column) => column.notNull())
        .addColumn('failures', 'integer', (column) => column.notNull())
        .addColumn('day_began_at', bigint, (column) => column.notNull())
        .addColumn('day_orders', 'integer', (column) => column.notNull())
        .addColumn('requested_at', bigint, (column) => column.notNull())
        .addColumn('ordered_at', bigint, (column) => column.notNull())
        .addColumn('due_at', bigint, (column) => column.notNull())
        .addColumn('lease_owner', 'text', (column) => column.notNull())
        .addColumn('lease_until', bigint, (column) => column.notNull())
        .modifyEnd(tableEnd)
        .execute();
      await db.schema.createIndex('certificate_order_due').on('certificate_order').column('due_at').execute();
      await db.schema.createIndex('certificate_order_ordered').on('certificate_order').column('ordered_at').execute();
    },
  };
}
