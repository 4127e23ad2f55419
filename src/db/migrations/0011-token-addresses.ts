/** Access tokens may be bound to addresses. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function tokenAddresses(_words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('token').addColumn('addresses', 'text').execute();
    },
  };
}
