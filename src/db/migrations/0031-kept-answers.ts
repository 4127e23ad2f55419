/** Table of answers to calls with an Idempotency-Key. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function keptAnswers({ bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('kept_answer')
        .addColumn('id', 'text', (column) => column.notNull().primaryKey())
        .addColumn('account_id', 'integer', (column) => column.notNull())
        .addColumn('request_hash', 'text', (column) => column.notNull())
        .addColumn('answer', 'text', (column) => column.notNull())
        .addColumn('made_at', bigint, (column) => column.notNull())
        .modifyEnd(tableEnd)
        .execute();
      await db.schema.createIndex('kept_answer_account').on('kept_answer').columns(['account_id', 'made_at']).execute();
      await db.schema.createIndex('kept_answer_made').on('kept_answer').column('made_at').execute();
    },
  };
}
