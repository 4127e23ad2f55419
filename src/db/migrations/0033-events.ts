/** Events of the whole service in one table, in place of those of the fleet alone. docs/decisions/0619 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';
import { isPostgres } from '../engines/engine.ts';
import type { Schema } from '../schema/schema.ts';

export function events(words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await createEvents(db, words);
      await createConditions(db, words);
      await createWebhooks(db, words);
      // `as`: the engine is asked for, not a table.
      const data = isPostgres(db as Kysely<Schema>)
        ? sql`json_build_object('detail', detail)::text`
        : sql`json_object('detail', detail)`;
      await sql`
        insert into event (at, kind, severity, account_id, target_kind, target_id, target_name, actor, data)
          select at, 'edge.' || event, 'info', null, 'edge', edge, edge, actor, ${data} from fleet_event order by id`.execute(
        db,
      );
      await db.schema.dropTable('fleet_event').execute();
    },
  };
}

async function createEvents(db: Kysely<unknown>, { bigIdentity, bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('event')
    .addColumn('id', bigIdentity)
    .addColumn('at', bigint, (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('severity', 'text', (column) => column.notNull())
    .addColumn('account_id', 'integer')
    .addColumn('target_kind', 'text', (column) => column.notNull())
    .addColumn('target_id', 'text', (column) => column.notNull())
    .addColumn('target_name', 'text', (column) => column.notNull())
    .addColumn('actor', 'text', (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
  const index = (name: string, columns: string[]) => db.schema.createIndex(name).on('event').columns(columns).execute();
  await index('event_account', ['account_id', 'id']);
  await index('event_target', ['target_kind', 'target_id', 'id']);
  await index('event_age', ['at']);
}

async function createConditions(db: Kysely<unknown>, { bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('event_condition')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('account_id', 'integer')
    .addColumn('target_kind', 'text', (column) => column.notNull())
    .addColumn('target_id', 'text', (column) => column.notNull())
    .addColumn('target_name', 'text', (column) => column.notNull())
    .addColumn('level', 'integer', (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .addColumn('since', bigint, (column) => column.notNull())
    .addColumn('raised', 'integer', (column) => column.notNull())
    .addColumn('absent_since', bigint)
    .addPrimaryKeyConstraint('event_condition_key', ['kind', 'owner', 'key'])
    .modifyEnd(tableEnd)
    .execute();
}

async function createWebhooks(db: Kysely<unknown>, { bigIdentity, bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('event_webhook')
    .addColumn('receiver', 'integer', (column) => column.primaryKey().notNull())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('secret', 'text', (column) => column.notNull())
    .addColumn('changed_at', bigint, (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
  await db.schema
    .createTable('event_delivery')
    .addColumn('id', bigIdentity)
    .addColumn('receiver', 'integer', (column) => column.notNull())
    .addColumn('event_id', bigint, (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('due_at', bigint, (column) => column.notNull())
    .addColumn('tries', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('created_at', bigint, (column) => column.notNull())
    .addColumn('error', 'text', (column) => column.notNull().defaultTo(''))
    .modifyEnd(tableEnd)
    .execute();
  const index = (name: string, columns: string[]) =>
    db.schema.createIndex(name).on('event_delivery').columns(columns).execute();
  await index('event_delivery_due', ['receiver', 'due_at', 'id']);
  await index('event_delivery_id', ['receiver', 'id']);
}
