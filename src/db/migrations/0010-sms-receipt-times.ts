/** Receipts keep the instant that the carrier gave for what they tell. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function smsReceiptTimes({ bigint }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('sms_receipt').addColumn('done_at', bigint).execute();
    },
  };
}
