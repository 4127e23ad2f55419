/** The index of parts that wait, by when they expire, is for who asks for that: see docs/decisions/0389. */
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
