/** Receipts that wait keep every form of their id, and why they wait. docs/decisions/0427 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function smsReceiptMatching(_words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const add = (name: string, type: 'text' | 'integer', value: string | number) =>
        db.schema
          .alterTable('sms_receipt')
          .addColumn(name, type, (column) => column.notNull().defaultTo(value))
          .execute();
      await add('carrier_keys', 'text', '[]');
      await add('equal_keys', 'integer', 0);
      await add('unmatched', 'text', '');
      await sql`create index sms_receipt_unmatched on sms_receipt (unmatched, received_at)
        where part_id is null and unmatched <> ''`.execute(db);
    },
  };
}
