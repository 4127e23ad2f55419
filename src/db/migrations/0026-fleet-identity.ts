/** Tables of the fleet's authority, and of enrolled edges, their tokens and certificates. docs/decisions/0582 */
import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function fleetIdentity(words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await createFleet(db, words);
      await createTokens(db, words);
      await createCertificates(db, words);
      await extendEdges(db, words);
    },
  };
}

async function createFleet(db: Kysely<unknown>, { bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('fleet')
    .addColumn('id', 'integer', (column) => column.primaryKey().check(sql`id = 1`))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('changes', bigint, (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
  const name = randomBytes(4).toString('hex');
  await sql`insert into fleet (id, name, changes) values (1, ${name}, 0)`.execute(db);
  await db.schema
    .createTable('fleet_authority')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('certificate', 'text', (column) => column.notNull())
    .addColumn('private_key', 'text', (column) => column.notNull())
    .addColumn('made_at', bigint, (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
}

async function createTokens(db: Kysely<unknown>, { identity, bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('edge_token')
    .addColumn('id', identity)
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('authority', 'text', (column) => column.notNull())
    .addColumn('edge', 'text')
    .addColumn('replaces', 'integer', (column) => column.notNull())
    .addColumn('group_name', 'text', (column) => column.notNull())
    .addColumn('labels', 'text', (column) => column.notNull())
    .addColumn('addresses', 'text')
    .addColumn('uses', 'integer', (column) => column.notNull())
    .addColumn('used', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('created_at', bigint, (column) => column.notNull())
    .addColumn('expires_at', bigint, (column) => column.notNull())
    .addColumn('revoked_at', bigint)
    .modifyEnd(tableEnd)
    .execute();
}

async function createCertificates(db: Kysely<unknown>, { bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('edge_certificate')
    .addColumn('serial', 'text', (column) => column.primaryKey())
    .addColumn('edge', 'text', (column) => column.notNull())
    .addColumn('authority', 'text', (column) => column.notNull())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .addColumn('certificate', 'text', (column) => column.notNull())
    .addColumn('token_id', 'integer')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('made_at', bigint, (column) => column.notNull())
    .addColumn('not_after', bigint, (column) => column.notNull())
    .addColumn('replaced_at', bigint)
    .modifyEnd(tableEnd)
    .execute();
  const index = (name: string, columns: string[]) =>
    db.schema.createIndex(name).on('edge_certificate').columns(columns).execute();
  await index('edge_certificate_edge', ['edge', 'state']);
  await index('edge_certificate_token', ['token_id', 'public_key']);
}

async function extendEdges(db: Kysely<unknown>, { bigint }: ColumnWords): Promise<void> {
  const texts = { kind: 'local', group_name: 'default', labels: '{}', machine: '', seal_key: '', revoke_reason: '' };
  for (const [name, value] of Object.entries(texts))
    await db.schema
      .alterTable('edge')
      .addColumn(name, 'text', (column) => column.notNull().defaultTo(value))
      .execute();
  for (const name of ['enrolled_at', 'revoked_at', 'suspect_at'])
    await db.schema.alterTable('edge').addColumn(name, bigint).execute();
}
