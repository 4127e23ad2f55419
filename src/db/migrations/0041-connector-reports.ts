/** Controls that share the database say how their SMS connectors are. docs/decisions/0681 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export function connectorReports(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('control')
        .addColumn('connectors', 'text', (column) => column.notNull().defaultTo('[]'))
        .execute();
    },
  };
}
