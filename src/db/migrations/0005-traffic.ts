/** Tables of log files and statistics. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

const SUMS = [
  'requests',
  'bytes_in',
  'bytes_out',
  'bytes_origin',
  'hits',
  'hit_bytes',
  'status_2xx',
  'status_3xx',
  'status_4xx',
  'status_5xx',
];

export function traffic(words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await createLogParts(db, words);
      await createSums(db, words);
      await createTop(db, words);
    },
  };
}

async function createLogParts(db: Kysely<unknown>, { bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('log_part')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('domain_id', 'integer', (column) => column.notNull())
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('bytes', bigint, (column) => column.notNull())
    .addColumn('lines', bigint, (column) => column.notNull())
    .addColumn('received_at', bigint, (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('log_part_domain').on('log_part').columns(['domain_id', 'day']).execute();
  await db.schema.createIndex('log_part_day').on('log_part').column('day').execute();
}

async function createSums(db: Kysely<unknown>, { bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('stat_report')
    .addColumn('edge', 'text', (column) => column.notNull())
    .addColumn('start', 'text', (column) => column.notNull())
    .addColumn('sequence', bigint, (column) => column.notNull())
    .addColumn('received_at', bigint, (column) => column.notNull())
    .addPrimaryKeyConstraint('stat_report_key', ['edge', 'start'])
    .modifyEnd(tableEnd)
    .execute();
  let sums = db.schema
    .createTable('stat_sum')
    .addColumn('domain_id', 'integer', (column) => column.notNull())
    .addColumn('grain', 'text', (column) => column.notNull())
    .addColumn('at', bigint, (column) => column.notNull());
  for (const name of SUMS) sums = sums.addColumn(name, bigint, (column) => column.notNull());
  await sums.addPrimaryKeyConstraint('stat_sum_key', ['domain_id', 'grain', 'at']).modifyEnd(tableEnd).execute();
  await db.schema.createIndex('stat_sum_age').on('stat_sum').columns(['grain', 'at']).execute();
}

async function createTop(db: Kysely<unknown>, { bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('stat_top')
    .addColumn('domain_id', 'integer', (column) => column.notNull())
    .addColumn('at', bigint, (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('requests', bigint, (column) => column.notNull())
    .addColumn('bytes', bigint, (column) => column.notNull())
    .addPrimaryKeyConstraint('stat_top_key', ['domain_id', 'at', 'kind', 'value'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('stat_top_age').on('stat_top').column('at').execute();
}
