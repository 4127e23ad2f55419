/** Sessions of browsers. docs/decisions/0662 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function sessions({ bigIdentity, bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      let table = db.schema
        .createTable('session')
        .addColumn('id', bigIdentity)
        .addColumn('hash', 'text', (column) => column.notNull().unique());
      for (const name of ['person_id', 'token_id', 'account_id', 'look_account_id'])
        table = table.addColumn(name, 'integer');
      for (const name of ['method', 'look_reason', 'address', 'user_agent'])
        table = table.addColumn(name, 'text', (column) => column.notNull());
      for (const name of ['pending', 'kept']) table = table.addColumn(name, 'integer', (column) => column.notNull());
      for (const name of ['created_at', 'seen_at', 'expires_at'])
        table = table.addColumn(name, bigint, (column) => column.notNull());
      for (const name of ['strong_at', 'look_until']) table = table.addColumn(name, bigint);
      await table.modifyEnd(tableEnd).execute();
      const index = (column: string) =>
        db.schema.createIndex(`session_${column}`).on('session').column(column).execute();
      await index('person_id');
      await index('token_id');
      await index('expires_at');
    },
  };
}
