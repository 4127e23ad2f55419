/** Accounts whose messages are watched, with a version that changes of them raise. docs/decisions/0690 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function smsWatch({ bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('sms_watch')
        .addColumn('account_id', 'integer', (column) => column.primaryKey())
        .addColumn('version', bigint, (column) => column.notNull())
        .addColumn('until', bigint, (column) => column.notNull())
        .modifyEnd(tableEnd)
        .execute();
    },
  };
}
