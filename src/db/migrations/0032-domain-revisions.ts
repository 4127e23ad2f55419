/** Revisions of the settings of domains, beginning with those that are in force. docs/decisions/0624 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function domainRevisions({ bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('domain_revision')
        .addColumn('domain_id', bigint, (column) => column.notNull().references('domain.id').onDelete('cascade'))
        .addColumn('revision', bigint, (column) => column.notNull())
        .addColumn('made_at', bigint, (column) => column.notNull())
        .addColumn('settings', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('domain_revision_key', ['domain_id', 'revision'])
        .modifyEnd(tableEnd)
        .execute();
      await sql`
        insert into domain_revision (domain_id, revision, made_at, settings)
        select id, setting_revision, created_at, settings from domain where deleted_at is null
      `.execute(db);
    },
  };
}
