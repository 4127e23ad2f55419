/** Every step from an empty database to the present one, the same on both engines. A released step is never edited. */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, type Migration, type MigrationResultSet, Migrator } from 'kysely/migration';
import { systemClock } from '#lib/clock.ts';
import type { ColumnWords } from '../engines/column-types.ts';
import { mintRevisionTag } from '../schema/revision-tag.ts';
import type { Schema } from '../schema/schema.ts';
import { traffic } from './0005-traffic.ts';
import { sms } from './0006-sms.ts';
import { certificates } from './0007-certificates.ts';
import { acme } from './0008-acme.ts';
import { smsKeeping } from './0009-sms-keeping.ts';
import { smsReceiptTimes } from './0010-sms-receipt-times.ts';
import { tokenAddresses } from './0011-token-addresses.ts';
import { smsTurns } from './0012-sms-turns.ts';
import { smsExpiry } from './0013-sms-expiry.ts';
import { smsPinned } from './0014-sms-pinned.ts';
import { smsReceiptFacts } from './0015-sms-receipt-facts.ts';
import { logPositions } from './0016-log-positions.ts';
import { certificatePairs } from './0017-certificate-pairs.ts';
import { edgeOrigins } from './0018-edge-origins.ts';
import { smsUnread } from './0019-sms-unread.ts';
import { smsRevisable } from './0020-sms-revisable.ts';
import { smsReceiptMatching } from './0021-sms-receipt-matching.ts';
import { acmeRenewal } from './0022-acme-renewal.ts';
import { acmeWritten } from './0023-acme-written.ts';
import { live } from './0023-live.ts';
import { certificateKinds } from './0024-certificate-kinds.ts';
import { liveRecordings } from './0025-live-recordings.ts';

const STEPS: Readonly<Record<string, (words: ColumnWords) => Migration>> = {
  '0001-domains-and-feed': domainsAndFeed,
  '0002-cache-tasks': cacheTasks,
  '0005-traffic': traffic,
  '0006-sms': sms,
  '0007-certificates': certificates,
  '0008-acme': acme,
  '0009-sms-keeping': smsKeeping,
  '0010-sms-receipt-times': smsReceiptTimes,
  '0011-token-addresses': tokenAddresses,
  '0012-sms-turns': smsTurns,
  '0013-sms-expiry': smsExpiry,
  '0014-sms-pinned': smsPinned,
  '0015-sms-receipt-facts': smsReceiptFacts,
  '0016-log-positions': logPositions,
  '0017-certificate-pairs': certificatePairs,
  '0018-edge-origins': edgeOrigins,
  '0019-sms-unread': smsUnread,
  '0020-sms-revisable': smsRevisable,
  '0021-sms-receipt-matching': smsReceiptMatching,
  '0022-acme-renewal': acmeRenewal,
  '0023-live': live,
  '0023-acme-written': acmeWritten,
  '0024-certificate-kinds': certificateKinds,
  '0025-live-recordings': liveRecordings,
};

/** Throws when a step fails, or when the database is of a newer release than this one. */
export async function migrate(db: Kysely<Schema>, words: ColumnWords): Promise<void> {
  explain(await migratorOf(db, words).migrateToLatest());
}

/** Throws also when there is no such step, or when the database is beyond it. */
export async function migrateTo(db: Kysely<Schema>, words: ColumnWords, step: string): Promise<void> {
  if (!Object.hasOwn(STEPS, step))
    throw new Error(`${JSON.stringify(step)} is no state of the database that this release knows`);
  const present = await readStep(db);
  if (present !== undefined && present > step)
    throw new Error(`the database is at ${present} already, beyond ${step}: take a new, empty one`);
  explain(await migratorOf(db, words).migrateTo(step));
}

/** The last step that the database has seen; `undefined`: none. */
export async function readStep(db: Kysely<Schema>): Promise<string | undefined> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return undefined;
  const { rows } = await sql<{ name: string | null }>`
    select max(name) as name from ${sql.table(DEFAULT_MIGRATION_TABLE)}
  `.execute(db);
  return rows[0]?.name ?? undefined;
}

export function newestStep(): string {
  return Object.keys(STEPS).sort().at(-1) ?? '';
}

function migratorOf(db: Kysely<Schema>, words: ColumnWords): Migrator {
  const steps = Object.fromEntries(Object.entries(STEPS).map(([name, create]) => [name, create(words)]));
  return new Migrator({ db, provider: { getMigrations: async () => steps } });
}

function explain({ error }: MigrationResultSet): void {
  if (error === undefined) return;
  const reason = error instanceof Error ? error.message : String(error);
  const isNewer = /previously executed migration \S+ is missing/.test(reason);
  const why = isNewer
    ? 'it has been used by a newer release; run that one, or restore a backup from before it'
    : reason;
  throw new Error(`the database cannot be brought up to date: ${why}`, { cause: error });
}

function domainsAndFeed(words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await createAccounts(db, words);
      await createDomains(db, words);
      await createFeed(db, words);
    },
  };
}

async function createAccounts(db: Kysely<unknown>, { identity, bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('account')
    .addColumn('id', identity)
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull().check(sql`kind in ('customer', 'operator')`))
    .addColumn('created_at', bigint, (column) => column.notNull())
    .addColumn('domains', 'integer', (column) => column.notNull().defaultTo(0).check(sql`domains >= 0`))
    .modifyEnd(tableEnd)
    .execute();
  await db.schema
    .createTable('token')
    .addColumn('id', identity)
    .addColumn('account_id', 'integer', (column) => column.notNull().references('account.id'))
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', bigint, (column) => column.notNull())
    .addColumn('expires_at', bigint)
    .addColumn('revoked_at', bigint)
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('token_account').on('token').column('account_id').execute();
}

async function createDomains(db: Kysely<unknown>, { identity, bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('domain')
    .addColumn('id', identity)
    .addColumn('account_id', 'integer', (column) => column.notNull().references('account.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('icp_number', 'text', (column) => column.notNull())
    .addColumn('remark', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('created_at', bigint, (column) => column.notNull())
    .addColumn('setting_revision', bigint, (column) => column.notNull())
    .addColumn('settings', 'text', (column) => column.notNull())
    .addColumn('deleted_at', bigint)
    .modifyEnd(tableEnd)
    .execute();
  await db.schema
    .createIndex('domain_name_in_use')
    .unique()
    .on('domain')
    .column('name')
    .where(sql.ref('deleted_at'), 'is', null)
    .execute();
  await db.schema.createIndex('domain_account').on('domain').columns(['account_id', 'id']).execute();
}

async function createFeed(db: Kysely<unknown>, { bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('config_head')
    .addColumn('id', 'integer', (column) => column.primaryKey().check(sql`id = 1`))
    .addColumn('epoch', 'text', (column) => column.notNull())
    .addColumn('revision', bigint, (column) => column.notNull())
    .addColumn('min_revision', bigint, (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
  await sql`insert into config_head (id, epoch, revision, min_revision) values (1, ${randomUUID()}, 0, 0)`.execute(db);
  await db.schema
    .createTable('revision_tag')
    .addColumn('revision', bigint, (column) => column.primaryKey())
    .addColumn('tag', 'text', (column) => column.notNull())
    .addColumn('made_at', bigint, (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
  const values = sql`0, ${mintRevisionTag()}, ${systemClock()}`;
  await sql`insert into revision_tag (revision, tag, made_at) values (${values})`.execute(db);
  await db.schema
    .createTable('resource')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('revision', bigint, (column) => column.notNull())
    .addColumn('deleted', 'integer', (column) => column.notNull())
    .addColumn('changed_at', bigint, (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('resource_key', ['kind', 'key'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('resource_revision').on('resource').columns(['revision', 'kind', 'key']).execute();
  await db.schema
    .createTable('edge')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('applied_revision', bigint, (column) => column.notNull())
    .addColumn('rejected', 'text', (column) => column.notNull())
    .addColumn('build', 'text', (column) => column.notNull())
    .addColumn('started_at', bigint, (column) => column.notNull())
    .addColumn('reported_at', bigint, (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
}

function cacheTasks({ identity, bigint, tableEnd }: ColumnWords): Migration {
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
