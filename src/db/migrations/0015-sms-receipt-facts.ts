/** Receipts keep everything that tells whose they are and what the carrier said; parts keep the carrier's last word. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function smsReceiptFacts({ bigint }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      // One column at a time: SQLite adds no more in one statement.
      await db.schema.alterTable('sms_receipt').addColumn('number', 'text').execute();
      await db.schema.alterTable('sms_receipt').addColumn('reference_bits', 'integer').execute();
      await db.schema.alterTable('sms_receipt').addColumn('submitted_at', bigint).execute();
      await addWord(db, 'sms_receipt', 'word');
      await addWord(db, 'sms_part', 'last_word');
      // Receipts that still wait for their part. Only SMPP's references were stored until now.
      await sql`update sms_receipt set number = destination where part_id is null and destination like '+%'`.execute(
        db,
      );
      await sql`update sms_receipt set reference_bits = 16 where part_id is null and reference is not null`.execute(db);
    },
  };
}

async function addWord(db: Kysely<unknown>, table: string, column: string): Promise<void> {
  await db.schema
    .alterTable(table)
    .addColumn(column, 'text', (it) => it.notNull().defaultTo(''))
    .execute();
}
