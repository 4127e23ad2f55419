/** Sums of whole accounts, made from those of their domains. docs/decisions/0673 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

const SUMS = [
  'requests',
  'bytes_in',
  'bytes_out',
  'bytes_origin',
  'hits',
  'hit_bytes',
  'status_2xx',
  'status_3xx',
  'status_4xx',
  'status_5xx',
];

export function accountSums({ bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      let table = db.schema
        .createTable('stat_account')
        .addColumn('account_id', 'integer', (column) => column.notNull())
        .addColumn('grain', 'text', (column) => column.notNull())
        .addColumn('at', bigint, (column) => column.notNull());
      for (const name of SUMS) table = table.addColumn(name, bigint, (column) => column.notNull());
      await table
        .addPrimaryKeyConstraint('stat_account_key', ['account_id', 'grain', 'at'])
        .modifyEnd(tableEnd)
        .execute();
      await db.schema.createIndex('stat_account_age').on('stat_account').columns(['grain', 'at']).execute();
      await sql`
        insert into stat_account (account_id, grain, at, ${sql.raw(SUMS.join(', '))})
        select account_id, grain, at, ${sql.raw(SUMS.map((name) => `sum(${name})`).join(', '))}
        from stat_sum join domain on domain.id = stat_sum.domain_id
        group by account_id, grain, at
      `.execute(db);
    },
  };
}
