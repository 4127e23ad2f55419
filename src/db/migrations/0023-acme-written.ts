/** Orders of certificates know when they were written, so that a clock that was ahead is noticed. docs/decisions/0467 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function acmeWritten({ bigint }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('certificate_order')
        .addColumn('written_at', bigint, (column) => column.notNull().defaultTo(0))
        .execute();
      await db.schema.createIndex('certificate_order_written').on('certificate_order').column('written_at').execute();
    },
  };
}
