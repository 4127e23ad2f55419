/** Tables of certificates. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function certificates({ bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('certificate')
        .addColumn('key', 'text', (column) => column.primaryKey())
        .addColumn('account_id', 'integer', (column) => column.notNull().references('account.id'))
        .addColumn('title', 'text', (column) => column.notNull())
        .addColumn('fingerprint', 'text', (column) => column.notNull())
        .addColumn('chain', 'text', (column) => column.notNull())
        .addColumn('private_key', 'text', (column) => column.notNull())
        .addColumn('issuer', 'text', (column) => column.notNull())
        .addColumn('names', 'text', (column) => column.notNull())
        .addColumn('valid_from', bigint, (column) => column.notNull())
        .addColumn('valid_to', bigint, (column) => column.notNull())
        .addColumn('created_at', bigint, (column) => column.notNull())
        .addUniqueConstraint('certificate_once', ['account_id', 'fingerprint'])
        .modifyEnd(tableEnd)
        .execute();
      await db.schema
        .createTable('certificate_use')
        .addColumn('domain_id', 'integer', (column) => column.primaryKey().references('domain.id'))
        .addColumn('certificate_key', 'text', (column) => column.notNull().references('certificate.key'))
        .modifyEnd(tableEnd)
        .execute();
      await db.schema
        .createIndex('certificate_use_certificate')
        .on('certificate_use')
        .column('certificate_key')
        .execute();
    },
  };
}
