/** A part that a word of its carrier made `unknown` may still be revised by a better one. docs/decisions/0422 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function smsRevisable({ bigint }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('sms_part').addColumn('revisable_until', bigint).execute();
      await sql`create index sms_part_revisable on sms_part (revisable_until) where revisable_until is not null`.execute(
        db,
      );
    },
  };
}
