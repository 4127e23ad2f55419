/** The audit trail. docs/decisions/0623 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function audit({ bigIdentity, bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      let table = db.schema
        .createTable('audit_event')
        .addColumn('id', bigIdentity)
        .addColumn('at', bigint, (column) => column.notNull());
      for (const name of ['account_id', 'actor_account_id', 'token_id', 'person_id', 'revision'])
        table = table.addColumn(name, bigint);
      table = table.addColumn('session_id', 'text');
      for (const name of TEXTS) table = table.addColumn(name, 'text', (column) => column.notNull());
      await table.modifyEnd(tableEnd).execute();
      const index = (name: string, columns: string[]) =>
        db.schema.createIndex(name).on('audit_event').columns(columns).execute();
      await index('audit_event_account', ['account_id', 'id']);
      await index('audit_event_target', ['target_kind', 'target_id', 'id']);
      await index('audit_event_age', ['at']);
    },
  };
}

const TEXTS = [
  'actor',
  'actor_name',
  'address',
  'operation',
  'target_kind',
  'target_id',
  'target_name',
  'before',
  'after',
  'request_id',
];
