/** Parts with which something went wrong are found by account. docs/decisions/0678 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export function smsSearch(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await sql`create index sms_part_trouble on sms_part (account_id, message_id)
        where state in ('uncertain', 'failed', 'expired', 'unknown', 'rejected')`.execute(db);
    },
  };
}
