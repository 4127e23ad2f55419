/** Access tokens may be rotated, and say when they were last used. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function tokenUse({ bigint }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('token').addColumn('former_hash', 'text').execute();
      for (const name of ['former_until', 'last_used_at'])
        await db.schema.alterTable('token').addColumn(name, bigint).execute();
      await db.schema.createIndex('token_former_hash').unique().on('token').column('former_hash').execute();
    },
  };
}
