/** Accounts may have limits of their own, and domains be refused for the bandwidth of their account. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function accountLimits({ bigint }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const { schema } = db;
      await schema
        .alterTable('account')
        .addColumn('limits', 'text', (column) => column.notNull().defaultTo('{}'))
        .execute();
      await schema.alterTable('account').addColumn('over_since', bigint).execute();
      await schema
        .alterTable('domain')
        .addColumn('limited', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
    },
  };
}
