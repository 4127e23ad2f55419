/** Tables of live streams. */
import type { CreateTableBuilder, Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function live(words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await createStreams(db, words);
      await createBroadcasts(db, words);
      await createViewers(db, words);
      await createProcesses(db, words);
    },
  };
}

async function createStreams(db: Kysely<unknown>, { bigint, tableEnd }: ColumnWords): Promise<void> {
  await withName(db.schema.createTable('live_stream'))
    .addColumn('broadcast', 'text', (column) => column.notNull())
    .addColumn('edge', 'text', (column) => column.notNull())
    .addColumn('began_at', bigint, (column) => column.notNull())
    .addColumn('ended_at', bigint, (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('forbidden', 'integer', (column) => column.notNull())
    .addColumn('forbidden_at', bigint, (column) => column.notNull())
    .addColumn('forbidden_until', bigint, (column) => column.notNull())
    .addColumn('resumed_at', bigint, (column) => column.notNull())
    .addColumn('kicked', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('live_stream_key', ['domain_id', 'app', 'stream'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('live_stream_edge').on('live_stream').columns(['edge', 'ended_at']).execute();
  await db.schema
    .createIndex('live_stream_forbidden')
    .on('live_stream')
    .columns(['forbidden', 'forbidden_until'])
    .execute();
}

async function createBroadcasts(db: Kysely<unknown>, { bigint, tableEnd }: ColumnWords): Promise<void> {
  await withName(db.schema.createTable('live_broadcast'))
    .addColumn('broadcast', 'text', (column) => column.notNull())
    .addColumn('edge', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('began_at', bigint, (column) => column.notNull())
    .addColumn('ended_at', bigint, (column) => column.notNull())
    .addColumn('last_media_at', bigint, (column) => column.notNull())
    .addColumn('end_reason', 'text', (column) => column.notNull())
    .addColumn('peak_viewers', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('live_broadcast_key', ['domain_id', 'app', 'stream', 'broadcast'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('live_broadcast_begin').on('live_broadcast').columns(['domain_id', 'began_at']).execute();
  await db.schema.createIndex('live_broadcast_end').on('live_broadcast').columns(['ended_at', 'edge']).execute();
}

async function createViewers(db: Kysely<unknown>, { bigint, tableEnd }: ColumnWords): Promise<void> {
  await withName(db.schema.createTable('live_viewers'))
    .addColumn('grain', 'text', (column) => column.notNull())
    .addColumn('at', bigint, (column) => column.notNull())
    .addColumn('flv', 'integer', (column) => column.notNull())
    .addColumn('websocket', 'integer', (column) => column.notNull())
    .addColumn('rtmp', 'integer', (column) => column.notNull())
    .addColumn('hls', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('live_viewers_key', ['domain_id', 'grain', 'at', 'app', 'stream'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('live_viewers_age').on('live_viewers').columns(['grain', 'at']).execute();
}

async function createProcesses(db: Kysely<unknown>, { bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('live_keys')
    .addColumn('domain_id', 'integer', (column) => column.primaryKey().references('domain.id'))
    .addColumn('sealed_keys', 'text', (column) => column.notNull())
    .addColumn('changed_at', bigint, (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
  await db.schema
    .createTable('live_process')
    .addColumn('edge', 'text', (column) => column.primaryKey())
    .addColumn('epoch', 'text', (column) => column.notNull())
    .addColumn('taken', bigint, (column) => column.notNull())
    .addColumn('reported_at', bigint, (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
}

function withName<T extends string>(table: CreateTableBuilder<T>) {
  return table
    .addColumn('domain_id', 'integer', (column) => column.notNull().references('domain.id'))
    .addColumn('app', 'text', (column) => column.notNull())
    .addColumn('stream', 'text', (column) => column.notNull());
}
