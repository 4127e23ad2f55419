/** What the SMS tables have got since: recharges that can be repeated, replies that can be listed, receipts and webhooks that wait found at once. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function smsKeeping(_words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('sms_ledger').addColumn('reference', 'text').execute();
      await sql`create unique index sms_ledger_reference on sms_ledger (account_id, reference)
        where reference is not null`.execute(db);

      for (const name of ['account_id', 'reference', 'part', 'parts'])
        await db.schema.alterTable('sms_reply').addColumn(name, 'integer').execute();
      await sql`update sms_reply set account_id = (select a.account_id from sms_app as a where a.id = sms_reply.app_id)`.execute(
        db,
      );
      await db.schema.createIndex('sms_reply_account').on('sms_reply').columns(['account_id', 'id']).execute();

      await sql`create index sms_receipt_waiting on sms_receipt (received_at) where part_id is null`.execute(db);

      await db.schema.dropIndex('sms_delivery_due').execute();
      await db.schema.createIndex('sms_delivery_app').on('sms_delivery').columns(['app_id', 'due_at', 'id']).execute();
    },
  };
}
