/** Groups that fetch through others, and where their parents listen. docs/decisions/0732 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export function tiers(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('edge_group').addColumn('parent', 'text').execute();
      await db.schema
        .alterTable('edge')
        .addColumn('tier_address', 'text', (column) => column.notNull().defaultTo(''))
        .execute();
    },
  };
}
