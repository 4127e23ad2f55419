/**
 * The index of queued parts by expiry covers only parts that expire, for queries that ask for them. docs/decisions/0389
 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export function smsExpiry(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.dropIndex('sms_part_expire').execute();
      await sql`create index sms_part_expire on sms_part (expire_at) where state = 'queued' and expire_at > 0`.execute(
        db,
      );
    },
  };
}
