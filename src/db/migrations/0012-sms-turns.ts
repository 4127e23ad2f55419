/** Parts of SMS know whose they are, for accounts take turns. docs/decisions/0333 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function smsTurns(_words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('sms_part')
        .addColumn('account_id', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
      // What has ended is in no queue any more.
      await sql`update sms_part set account_id = (select m.account_id from sms_message as m where m.id = sms_part.message_id)
        where state in ('queued', 'submitting', 'uncertain')`.execute(db);
      await db.schema.dropIndex('sms_part_queue').execute();
      await db.schema
        .createIndex('sms_part_queue')
        .on('sms_part')
        .columns(['route', 'priority', 'account_id', 'due_at', 'id'])
        .where(sql.ref('state'), '=', sql.lit('queued'))
        .execute();
    },
  };
}
