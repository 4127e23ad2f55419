/** What edges report of themselves, drains and removals, and the events of the fleet. docs/decisions/0598, 0600 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function edgeStates(words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await extendEdges(db, words);
      await createEvents(db, words);
    },
  };
}

async function extendEdges(db: Kysely<unknown>, { bigint }: ColumnWords): Promise<void> {
  const texts = { state: '', own_state: '', features: '[]', load: '{}', health: '[]' };
  for (const [name, value] of Object.entries(texts))
    await db.schema
      .alterTable('edge')
      .addColumn(name, 'text', (column) => column.notNull().defaultTo(value))
      .execute();
  for (const name of ['state_at', 'seen_at', 'drain_at', 'self_drain_at', 'removed_at', 'clock_offset_ms'])
    await db.schema.alterTable('edge').addColumn(name, bigint).execute();
  await sql`update edge set seen_at = reported_at`.execute(db);
}

async function createEvents(db: Kysely<unknown>, { bigIdentity, bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('fleet_event')
    .addColumn('id', bigIdentity)
    .addColumn('at', bigint, (column) => column.notNull())
    .addColumn('edge', 'text', (column) => column.notNull())
    .addColumn('event', 'text', (column) => column.notNull())
    .addColumn('detail', 'text', (column) => column.notNull())
    .addColumn('actor', 'text', (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
  const index = (name: string, columns: string[]) =>
    db.schema.createIndex(name).on('fleet_event').columns(columns).execute();
  await index('fleet_event_edge', ['edge', 'id']);
  await index('fleet_event_age', ['at']);
}
