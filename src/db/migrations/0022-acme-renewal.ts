/** Orders of certificates know when they are renewed apart from when they are looked at. docs/decisions/0438 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function acmeRenewal({ bigint }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      for (const name of ['renew_at', 'renew_from', 'renew_to'])
        await db.schema
          .alterTable('certificate_order')
          .addColumn(name, bigint, (column) => column.notNull().defaultTo(0))
          .execute();
      await sql`update certificate_order set renew_at = due_at where state = 'issued'`.execute(db);
    },
  };
}
