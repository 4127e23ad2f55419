/** What is bound to a connector and waits is found by when it is due: what waits for its hours is not read meanwhile. docs/decisions/0399 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export function smsPinned(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.dropIndex('sms_part_pinned').execute();
      await sql`create index sms_part_pinned on sms_part (connector_id, due_at, id)
        where state = 'queued' and connector_id is not null`.execute(db);
      // Parts of messages that are bound to nobody: they had been given back to the queue.
      await sql`update sms_part set connector_id = null where state = 'queued' and connector_id is not null
        and (select m.connector_id from sms_message as m where m.id = sms_part.message_id) is null`.execute(db);
    },
  };
}
