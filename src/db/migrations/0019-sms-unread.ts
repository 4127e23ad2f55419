/** What carriers deliver and nobody can read is kept as it came; replies that are no text keep the number of their alphabet. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function smsUnread({ bigIdentity, bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('sms_unread')
        .addColumn('id', bigIdentity)
        .addColumn('connector_id', 'integer', (column) => column.notNull())
        .addColumn('reason', 'text', (column) => column.notNull())
        .addColumn('command', 'text', (column) => column.notNull())
        .addColumn('octets', 'text', (column) => column.notNull())
        .addColumn('received_at', bigint, (column) => column.notNull())
        .modifyEnd(tableEnd)
        .execute();
      await db.schema.createIndex('sms_unread_received').on('sms_unread').column('received_at').execute();
      await db.schema.alterTable('sms_reply').addColumn('coding', 'integer').execute();
    },
  };
}
