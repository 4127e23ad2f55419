/** A domain may have two certificates. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function certificatePairs({ tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      // SQLite changes no primary key in place.
      await db.schema
        .createTable('certificate_use_of_two')
        .addColumn('domain_id', 'integer', (column) => column.notNull().references('domain.id'))
        .addColumn('certificate_key', 'text', (column) => column.notNull().references('certificate.key'))
        .addPrimaryKeyConstraint('certificate_use_once', ['domain_id', 'certificate_key'])
        .modifyEnd(tableEnd)
        .execute();
      await sql`
        insert into certificate_use_of_two (domain_id, certificate_key)
        select domain_id, certificate_key from certificate_use
      `.execute(db);
      await db.schema.dropTable('certificate_use').execute();
      await db.schema.alterTable('certificate_use_of_two').renameTo('certificate_use').execute();
      await db.schema
        .createIndex('certificate_use_certificate')
        .on('certificate_use')
        .column('certificate_key')
        .execute();
    },
  };
}
