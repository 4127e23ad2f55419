/** Tables of recordings of live streams. docs/decisions/0503 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function liveRecordings({ bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('live_recording')
        .addColumn('recording', 'text', (column) => column.primaryKey())
        .addColumn('domain_id', 'integer', (column) => column.notNull().references('domain.id'))
        .addColumn('app', 'text', (column) => column.notNull())
        .addColumn('stream', 'text', (column) => column.notNull())
        .addColumn('broadcast', 'text', (column) => column.notNull())
        .addColumn('edge', 'text', (column) => column.notNull())
        .addColumn('began_at', bigint, (column) => column.notNull())
        .addColumn('last_at', bigint, (column) => column.notNull())
        .addColumn('end_reason', 'text', (column) => column.notNull())
        .addColumn('duration_ms', bigint, (column) => column.notNull())
        .addColumn('bytes', bigint, (column) => column.notNull())
        .addColumn('expires_at', bigint, (column) => column.notNull())
        .addColumn('deleted_at', bigint, (column) => column.notNull())
        .modifyEnd(tableEnd)
        .execute();
      const index = (name: string, columns: string[]) =>
        db.schema.createIndex(name).on('live_recording').columns(columns).execute();
      await index('live_recording_begin', ['domain_id', 'began_at']);
      await index('live_recording_expiry', ['expires_at']);
      await index('live_recording_deleted', ['deleted_at']);
      await db.schema
        .createTable('live_recording_piece')
        .addColumn('recording', 'text', (column) => column.notNull().references('live_recording.recording'))
        .addColumn('n', 'integer', (column) => column.notNull())
        .addColumn('key', 'text', (column) => column.notNull().unique())
        .addColumn('init_bytes', bigint, (column) => column.notNull())
        .addColumn('media_bytes', bigint, (column) => column.notNull())
        .addColumn('duration_ms', bigint, (column) => column.notNull())
        .addColumn('is_discontinuity', 'integer', (column) => column.notNull())
        .addPrimaryKeyConstraint('live_recording_piece_key', ['recording', 'n'])
        .modifyEnd(tableEnd)
        .execute();
    },
  };
}
