/** The last attempts to post to the webhook of each SMS app are kept. docs/decisions/0680 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function smsDeliveryAttempts({ bigIdentity, bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('sms_delivery_attempt')
        .addColumn('id', bigIdentity)
        .addColumn('app_id', 'integer', (column) => column.notNull())
        .addColumn('delivery_id', bigint, (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('sendid', 'text', (column) => column.notNull())
        .addColumn('at', bigint, (column) => column.notNull())
        .addColumn('took_ms', 'integer', (column) => column.notNull())
        .addColumn('tries', 'integer', (column) => column.notNull())
        .addColumn('outcome', 'text', (column) => column.notNull())
        .addColumn('status', 'integer', (column) => column.notNull())
        .addColumn('reason', 'text', (column) => column.notNull())
        .addColumn('answer', 'text', (column) => column.notNull())
        .modifyEnd(tableEnd)
        .execute();
      await db.schema
        .createIndex('sms_delivery_attempt_app')
        .on('sms_delivery_attempt')
        .columns(['app_id', 'id'])
        .execute();
    },
  };
}
