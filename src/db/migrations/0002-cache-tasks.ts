/** Tables of purges, prefetches and how much of both an account asks for. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function cacheTasks({ identity, bigint, tableEnd }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await createPurges(db, bigint, tableEnd);
      await db.schema
        .createTable('cache_task')
        .addColumn('id', identity)
        .addColumn('account_id', 'integer', (column) => column.notNull().references('account.id'))
        .addColumn('kind', 'text', (column) => column.notNull().check(sql`kind in ('purge', 'prefetch')`))
        .addColumn('created_at', bigint, (column) => column.notNull())
        .addColumn('revision', bigint, (column) => column.notNull())
        .addColumn('items', 'text', (column) => column.notNull())
        .modifyEnd(tableEnd)
        .execute();
      await db.schema.createIndex('cache_task_created').on('cache_task').column('created_at').execute();
      await db.schema
        .createTable('prefetch_outcome')
        .addColumn('task_id', 'integer', (column) => column.notNull().references('cache_task.id').onDelete('cascade'))
        .addColumn('n', 'integer', (column) => column.notNull())
        .addColumn('edge', 'text', (column) => column.notNull())
        .addColumn('failure', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('prefetch_outcome_key', ['task_id', 'n', 'edge'])
        .modifyEnd(tableEnd)
        .execute();
      await db.schema
        .createTable('cache_usage')
        .addColumn('account_id', 'integer', (column) => column.notNull().references('account.id'))
        .addColumn('day', 'text', (column) => column.notNull())
        .addColumn('purge_urls', 'integer', (column) => column.notNull().defaultTo(0))
        .addColumn('purge_directories', 'integer', (column) => column.notNull().defaultTo(0))
        .addColumn('prefetch_urls', 'integer', (column) => column.notNull().defaultTo(0))
        .addPrimaryKeyConstraint('cache_usage_key', ['account_id', 'day'])
        .modifyEnd(tableEnd)
        .execute();
    },
  };
}

async function createPurges(
  db: Kysely<unknown>,
  bigint: ColumnWords['bigint'],
  tableEnd: ColumnWords['tableEnd'],
): Promise<void> {
  await db.schema
    .createTable('purge')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('site_id', 'integer', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('target', 'text', (column) => column.notNull())
    .addColumn('created_at', bigint, (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('purge_site').on('purge').column('site_id').execute();
  await db.schema.createIndex('purge_created').on('purge').column('created_at').execute();
}
