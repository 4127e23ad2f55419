/** Tables of accounts, tokens, domains, the feed's resources and edges. */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { systemClock } from '#lib/clock.ts';
import type { ColumnWords } from '../engines/column-types.ts';
import { mintRevisionTag } from '../schema/revision-tag.ts';

export function domainsAndFeed(words: ColumnWords): Migration {
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
