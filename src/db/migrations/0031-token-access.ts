/** Access tokens may be limited to some access, and to some domains. Those that are there keep all of both. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function tokenAccess(_words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      for (const name of ['access', 'domain_ids'])
        await db.schema.alterTable('token').addColumn(name, 'text').execute();
    },
  };
}
